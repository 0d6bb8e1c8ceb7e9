import type { AdvertisedRef, Advertisement } from "./advertisement.ts";
import { textPackets } from "./advertisement.ts";
import { GitError, overLimit, protocolError } from "../errors.ts";
import type { HttpTransport } from "./http.ts";
import { isOid } from "../object.ts";
import { PacketReader } from "./pkt-line.ts";
import { lsRefsBody } from "./request.ts";
import { withRetries } from "./retry.ts";
import type { Operation } from "../operation.ts";

export interface ResolvedRef {
  /** The commit (tags peeled). */
  oid: string;
  /** Full name, `refs/heads/…`; null when a commit id was given, or HEAD is detached. */
  refName: string | null;
  /** Short name of the branch HEAD points to. */
  defaultBranch: string | null;
}

/** The references that a name may mean, requested from the server (v2) or selected from its advertisement (v0). */
interface RefList {
  refs: AdvertisedRef[];
  /** Target of the symbolic HEAD, even if the branch has no commit yet. */
  head: string | undefined;
}

/** v2 `ls-refs`. */
async function lsRefs(
  transport: HttpTransport,
  operation: Operation,
  advertisement: Advertisement,
  prefixes: readonly string[],
): Promise<RefList> {
  const { limits, scrub } = transport;
  const { objectFormat } = advertisement;
  return withRetries(operation, limits.attempts, async () => {
    const body = await transport.post(operation, lsRefsBody(advertisement, prefixes));
    const packets = new PacketReader(body);
    const list: RefList = { refs: [], head: undefined };
    try {
      for await (const line of textPackets(packets, limits, scrub)) {
        const [oid = "", name = "", ...attributes] = line.split(" ");
        if (name === "HEAD") {
          list.head = attributes.find((text) => text.startsWith("symref-target:"))?.slice("symref-target:".length);
        }
        if (oid === "unborn") continue;
        if (!isOid(objectFormat, oid) || name === "") throw protocolError("malformed reference list");
        const peeled = attributes.find((text) => text.startsWith("peeled:"))?.slice("peeled:".length);
        list.refs.push(peeled === undefined ? { name, oid } : { name, oid, peeled });
        if (list.refs.length > limits.refs) throw overLimit(`more than ${limits.refs} references`);
      }
      return list;
    } finally {
      packets.cancel();
    }
  });
}

/** The full names that `ref` may mean, in order of preference: branches before tags, as in `git clone --branch`. */
function candidates(ref: string): string[] {
  if (ref === "HEAD" || ref.startsWith("refs/")) return [ref];
  return [`refs/heads/${ref}`, `refs/tags/${ref}`, `refs/${ref}`];
}

const refNotFound = (message: string): GitError => new GitError("REF_NOT_FOUND", message);

/** Rejects names that could break the protocol; a subset of `git check-ref-format`. */
function checkRefName(ref: string): void {
  // oxlint-disable-next-line no-control-regex -- looks for control characters on purpose
  if (ref === "" || ref.length > 1024 || /[\u0000-\u0020\u007f~^:?*[\\]|\.\.|^-|@\{/.test(ref)) {
    throw refNotFound(`${JSON.stringify(ref.slice(0, 200))} is not a valid branch, tag or commit`);
  }
}

/**
 * Resolves a name to its commit: nothing or HEAD, a branch, a tag (nested ones too), a full `refs/…` name.
 * Returns undefined for a full commit id, which is resolved by another request.
 */
export async function resolveName(
  transport: HttpTransport,
  operation: Operation,
  advertisement: Advertisement,
  ref: string,
): Promise<{ resolved: ResolvedRef | undefined; list: RefList }> {
  checkRefName(ref);
  const names = candidates(ref);
  const isId = isOid(advertisement.objectFormat, ref.toLowerCase());
  const list: RefList =
    advertisement.protocol === 2
      ? await lsRefs(transport, operation, advertisement, isId ? ["HEAD"] : ["HEAD", ...names])
      : { refs: advertisement.refs, head: advertisement.head };
  const defaultBranch = list.head?.startsWith("refs/heads/") === true ? list.head.slice(11) : null;
  if (isId) return { resolved: undefined, list };
  for (const name of names) {
    const found = list.refs.find((one) => one.name === name);
    if (found === undefined) continue;
    const refName = name === "HEAD" ? (list.head ?? null) : name;
    return { resolved: { oid: found.peeled ?? found.oid, refName, defaultBranch }, list };
  }
  const all =
    advertisement.protocol === 2
      ? await lsRefs(transport, operation, advertisement, ["refs/heads/", "refs/tags/"])
      : { refs: advertisement.refs };
  if (all.refs.length === 0) {
    throw new GitError("EMPTY_REPOSITORY", "the repository is empty: it has no commits yet");
  }
  if (ref === "HEAD") {
    const target = list.head === undefined ? "" : ` (it points to ${transport.scrub(list.head)})`;
    throw refNotFound(`the repository's HEAD has no commit${target}; name a branch`);
  }
  if (/^[\da-f]{4,63}$/i.test(ref)) {
    throw refNotFound(
      `no branch or tag is called ${ref}; abbreviated commit ids cannot be resolved remotely, give all ` +
        `${advertisement.objectFormat === "sha1" ? 40 : 64} digits`,
    );
  }
  throw refNotFound(`the repository has no branch or tag called ${JSON.stringify(transport.scrub(ref))}`);
}
