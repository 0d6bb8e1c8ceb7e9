import { OverlayRequest, OverlayResponse } from "../../../contract/index.ts";
import { ApiError } from "../../../lib/errors.ts";
import { databaseOf } from "../../../service/db/databases.ts";
import { findTargets } from "../../../service/hosted-index/targets.ts";
import { createOverlay } from "../../../service/overlays/requests.ts";
import { queueOf } from "../../../service/runs/queues.ts";
import { requireEmbedder } from "./embed.ts";
import { route } from "../route.ts";
import { searchDepsOf } from "../search-deps.ts";

/** Has edits that are not pushed indexed on top of a revision. */
export const makeOverlayRoute = route({
  id: "createOverlay",
  method: "POST",
  path: "/overlays",
  tag: "Search",
  summary: "Ask about edits that are not pushed",
  description:
    "Indexes changed files on top of an indexed commit, branch or tag, and answers with an id for the `overlay` of every question. Answers are those of an index of the edited tree. The overlay is kept for an hour, for the credential that has sent it; sending the same edits again keeps it for another hour and indexes nothing. Free of credits, as `POST /index` is.",
  credential: "api_key",
  surface: "search",
  body: {
    schema: OverlayRequest,
    example: {
      repo: "github.com/owner/name",
      base: "main",
      files: [
        { path: "src/session.ts", text: "export function closeSession() {}\n" },
        { path: "src/old.ts", text: null },
      ],
    },
  },
  responses: { 200: { description: "The edits can be asked.", schema: OverlayResponse } },
  errors: ["INVALID_SELECTOR", "NO_WORKSPACE", "NO_INDEX", "EMBED_UNAVAILABLE", "UNAVAILABLE"],
  handle: async (c, { principal, body: { repo, workspaceId, base, files } }) => {
    const services = c.get("services");
    const { fingerprint } = requireEmbedder(services);
    const { tenantId, credentialId } = principal;
    if (repo === undefined && workspaceId === undefined)
      throw new ApiError("INVALID_SELECTOR", "repo: send the repository that the edits are of");
    const deps = searchDepsOf(c.env, tenantId, services);
    const { targets } = await findTargets(deps, principal, { repo, workspaceId, ref: base });
    const [edited] = targets;
    if (!edited || edited.textList === null || edited.fingerprint !== fingerprint) {
      const why = "it was indexed by another model or version: index it again (POST /index)";
      throw new ApiError("NO_INDEX", `base: ${base} cannot take edits, because ${why}`);
    }
    const made = await c.get("turn").outside(() =>
      createOverlay(
        {
          db: databaseOf(c.env, tenantId),
          bucket: c.env.SNAPSHOTS,
          send: (message) => queueOf(c.env, edited.workspaceId).send(message),
          now: services.now,
        },
        { tenantId, credentialId, workspaceId: edited.workspaceId, seq: edited.seq },
        files,
      ),
    );
    return c.json({ ok: true, overlay: made.id, expiresAt: made.expiresAt.toISOString() } satisfies OverlayResponse);
  },
});
