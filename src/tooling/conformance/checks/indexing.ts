/** Hosted indexing and its runs. Up to six requests of the hourly thirty. */
import { answered, type Check, Difference, equal, holds, refused, type ServiceUnderTest } from "../target.ts";

const UNKNOWN = "00000000-0000-4000-8000-000000000000";
const COUNTS = ["fileCount", "symbolCount", "chunkCount", "embeddedCount", "skippedUnchanged", "embedMs"];
/** Longest that a run may take until its last event. */
const RUN_MS = 240_000;
/** The first event leaves at once. One that takes longer was held back somewhere on the way. */
const HELD_BACK_MS = 10_000;

function index(target: ServiceUnderTest, json: object, headers: Record<string, string> = {}) {
  return target.call("/index", { as: "workerToken", json, headers });
}

function request(target: ServiceUnderTest, url = target.need("gitUrl")): object {
  return { workspaceId: target.need("workspaceId"), source: { type: "git", url } };
}

export const indexingChecks: Check[] = [
  {
    title: "POST /index names the offending field",
    needs: ["workerToken"],
    run: async (target) => {
      const source = { type: "git", url: "https://git.example/a.git" };
      for (const [json, field] of [
        [{ workspaceId: "x", source }, "workspaceId"],
        [{ workspaceId: UNKNOWN, source: { type: "s3", url: "https://git.example/a" } }, "source.type"],
      ] as const) {
        const answer = await index(target, json);
        refused(answer, 400, "INVALID_BODY");
        holds(String(answer.body["error"]).includes(field), `the error does not name ${field}`);
      }
    },
  },
  {
    title: "POST /index: an unknown workspace is 404 WORKSPACE_NOT_FOUND",
    needs: ["workerToken"],
    run: async (target) => {
      const json = { workspaceId: UNKNOWN, source: { type: "git", url: "https://github.com/octocat/Hello-World" } };
      refused(await index(target, json), 404, "WORKSPACE_NOT_FOUND");
    },
  },
  {
    title: "POST /index: a repository that is not there is 422 CLONE_FAILED with git's words",
    needs: ["workerToken", "workspaceId", "gitUrl"],
    run: async (target) => {
      const answer = await index(
        target,
        request(target, new URL("/no/such-repository.git", target.need("gitUrl")).href),
      );
      refused(answer, 422, "CLONE_FAILED");
      equal(
        typeof (answer.body["details"] as { gitStderr?: unknown }).gitStderr,
        "string",
        "the type of details.gitStderr",
      );
    },
  },
  {
    title: "POST /index twice: the second run skips every file",
    needs: ["workerToken", "workspaceId", "gitUrl"],
    run: async (target) => {
      const fields = Object.fromEntries(COUNTS.map((field) => [field, "number"]));
      answered(await index(target, request(target)), { ok: "boolean", runId: "string", region: "string", ...fields });
      const second = await index(target, request(target));
      answered(second, { ok: "boolean", runId: "string", region: "string", ...fields });
      equal(second.body["skippedUnchanged"], second.body["fileCount"], "skippedUnchanged of the second run");
      return `${String(second.body["fileCount"])} files, ${String(second.body["symbolCount"])} symbols`;
    },
  },
  {
    title: "Prefer: respond-async answers 202, and the run's events arrive while it goes on, through the edge",
    needs: ["workerToken", "workspaceId", "gitUrl"],
    run: async (target) => {
      const accepted = await index(target, request(target), { Prefer: "respond-async" });
      answered(accepted, { ok: "boolean", accepted: "boolean", runId: "string" }, 202);
      const path = `/index/${String(accepted.body["runId"])}`;
      holds((accepted.headers.get("Location") ?? "").endsWith(path), "Location does not name the run");
      const events = await target.open(path, { as: "workerToken", headers: { Accept: "text/event-stream" } });
      holds(/^text\/event-stream\b/.test(events.headers.get("Content-Type") ?? ""), "the answer is no event stream");
      const { states, reads, waitedMs } = await readRun(events);
      equal(states.at(-1), "succeeded", "the state in the last event");
      const status = await target.call(path, { as: "workerToken" });
      equal([status.body["state"], status.body["runId"]], ["succeeded", accepted.body["runId"]], "the run's status");
      const heldBack = states.length > 1 && reads === 1 && waitedMs > HELD_BACK_MS;
      holds(!heldBack, `${states.length} events arrived together after ${waitedMs} ms, when the run was over`);
      return `${states.length} events`;
    },
  },
  {
    title: "a run that does not exist is 404 RUN_NOT_FOUND",
    needs: ["workerToken"],
    run: async (target) => refused(await target.call(`/index/${UNKNOWN}`, { as: "workerToken" }), 404, "RUN_NOT_FOUND"),
  },
  {
    title: "POST /snapshot has a code for each field, and none for another tenant",
    needs: ["workerToken", "tenantId", "workspaceId"],
    run: async (target) => {
      const source = { type: "git", url: "https://git.example/a.git" };
      const ids = { tenantId: target.need("tenantId"), workspaceId: target.need("workspaceId") };
      const good = { ...ids, gitSha: "0".repeat(40), source };
      for (const [change, code] of [
        [{ tenantId: "x" }, "BAD_TENANT_ID"],
        [{ workspaceId: "x" }, "BAD_WORKSPACE_ID"],
        [{ gitSha: "" }, "BAD_GIT_SHA"],
        [{ source: { type: "s3" } }, "BAD_SOURCE"],
      ] as const) {
        refused(await target.call("/snapshot", { as: "workerToken", json: { ...good, ...change } }), 400, code);
      }
      const foreign = await target.call("/snapshot", { as: "workerToken", json: { ...good, tenantId: UNKNOWN } });
      refused(foreign, 403, "FORBIDDEN_WORKSPACE");
    },
  },
];

/** The states in a run's stream, in how many pieces they came, and how long the first one took. Throws `Difference` if the stream ends before the run. */
async function readRun(response: Response): Promise<{ states: string[]; reads: number; waitedMs: number }> {
  const started = Date.now();
  let waitedMs = 0;
  const deadline = Date.now() + RUN_MS;
  let text = "";
  let reads = 0;
  for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += chunk;
    if (reads++ === 0) waitedMs = Date.now() - started;
    if (Date.now() > deadline) throw new Difference(`the run did not end within ${RUN_MS / 1_000} s`);
  }
  const events = text.split("\n").filter((line) => line.startsWith("data:"));
  if (events.length === 0) throw new Difference("the stream ended without an event");
  const states = events.map((line) => (JSON.parse(line.slice("data:".length)) as { state: string }).state);
  return { states, reads, waitedMs };
}
