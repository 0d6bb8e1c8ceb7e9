/** Exact search as each face does it, for `bench/grep.ts`. */
import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync } from "node:fs";
import path from "node:path";
import { commitTexts } from "../../src/cli/exact/commit-texts.ts";
import { TextCache } from "../../src/cli/exact/text-cache.ts";
import { workTreeTexts } from "../../src/cli/exact/work-tree-texts.ts";
import { listWorkTreeFiles } from "../../src/cli/git/git.ts";
import { runGrep } from "../../src/engines/exact/run-grep.ts";
import type { GrepRequest, RevisionTexts } from "../../src/engines/exact/types.ts";
import { CodeContextError } from "../../src/interface/client/index.ts";
import { startGitServer } from "../../src/tooling/local/git/git-server.ts";
import { freePort } from "../../src/tooling/local/stack/ports.ts";
import { watchIsolate } from "../isolate-memory.ts";
import { indexRef, newTeam, startBenchService } from "../hosted/team.ts";
import { temporaryFolder } from "../support.ts";

export const FACES = ["work-tree", "commit", "hosted"] as const;
export type FaceName = (typeof FACES)[number];

export type Pattern = { pattern: string } & Pick<GrepRequest, "fixedStrings" | "ignoreCase" | "wordRegexp">;

export interface Found {
  /** `path:line` of each line; undefined if the pattern is refused. */
  lines: string[] | undefined;
  /** Of the first answer. */
  ms: number;
  /** Whether all candidates were read within the budget. */
  isWhole: boolean;
}

export interface Face {
  /** Searched files. */
  fileCount: number;
  grep(pattern: Pattern): Promise<Found>;
  /** Highest memory of the isolate that answers, in bytes, while it answers several patterns at once; undefined without an isolate. */
  memoryOf?: (patterns: readonly Pattern[]) => Promise<number>;
  close(): Promise<void>;
}

const API_NAME = "code-context-api";
/** Lines of an answer of the service. */
const PAGE = 1_000;

/** The texts of a work tree without uncommitted edits, as the face finds them. */
export async function openFace(name: FaceName, root: string): Promise<Face> {
  if (name === "hosted") return openHosted(root);
  const texts = name === "commit" ? openCommit(root) : await openWorkTree(root);
  return {
    fileCount: (await texts.files()).filter(({ content }) => content !== undefined).length,
    grep: async (pattern) => {
      const startedAt = performance.now();
      const request = { context: 0, limit: Number.MAX_SAFE_INTEGER, offset: 0, ...pattern };
      const answer = await runGrep(texts, request, { maxBytes: Infinity, maxMs: Infinity }).catch(() => undefined);
      const ms = performance.now() - startedAt;
      return { lines: answer?.matches.map(({ path: file, line }) => `${file}:${line}`), ms, isWhole: true };
    },
    close: () => Promise.resolve(),
  };
}

const NOTHING = { read: () => undefined, write: () => undefined };
const cache = (): TextCache => new TextCache({ ...NOTHING, changes: NOTHING });
const enclosing: RevisionTexts["enclosing"] = (wanted) =>
  Promise.resolve(wanted.map(({ lines }) => lines.map(() => null)));

export async function openWorkTree(root: string): Promise<RevisionTexts> {
  const listing = await listWorkTreeFiles(root);
  return workTreeTexts({ root, listing, cache: cache(), enclosing, nowMs: Date.now() });
}

function openCommit(root: string): RevisionTexts {
  const gitSha = execFileSync("git", ["-C", root, "rev-parse", "HEAD"], { encoding: "utf8" }).trim();
  return commitTexts({ root, gitSha, cache: cache(), enclosing });
}

/** A service that has indexed the commit that is checked out. */
async function openHosted(root: string): Promise<Face> {
  const folder = temporaryFolder("grep");
  const served = path.join(folder, "served");
  mkdirSync(served);
  symlinkSync(path.join(root, ".git"), path.join(served, "repository"));
  const git = await startGitServer(served);
  const inspectorPort = await freePort();
  const dataDir = path.join(folder, "data");
  const running = await startBenchService(dataDir, inspectorPort);
  const close = async (): Promise<void> => {
    await running.stop();
    await git.close();
  };
  try {
    const team = await newTeam(running.service);
    await indexRef(team, `${git.origin}/repository`);
    const { client, workspaceId } = team;
    const ask = (pattern: Pattern, offset: number) => client.grep({ workspaceId, ...pattern, limit: PAGE, offset });
    const { coverage } = await ask({ pattern: "e", fixedStrings: true }, 0);
    return {
      fileCount: coverage.files,
      grep: async (pattern) => {
        const startedAt = performance.now();
        const lines: string[] = [];
        let ms: number | undefined;
        let isWhole = true;
        for (;;) {
          const answer = await ask(pattern, lines.length).catch((error: unknown) => {
            if (error instanceof CodeContextError && error.status === 400) return undefined;
            throw error;
          });
          ms ??= performance.now() - startedAt;
          if (!answer) return { lines: undefined, ms, isWhole };
          isWhole &&= (answer.coverage.notSearched["budget"] ?? 0) === 0;
          lines.push(...answer.matches.map(({ path: file, line }) => `${file}:${line}`));
          if (!isWhole || !answer.truncated || answer.matches.length === 0) return { lines, ms, isWhole };
        }
      },
      memoryOf: async (patterns) => {
        const isolate = await watchIsolate(inspectorPort, API_NAME);
        try {
          await Promise.all(patterns.map((pattern) => ask(pattern, 0)));
          return isolate.peakBytes() + (await isolate.wasmBytes());
        } finally {
          isolate.stop();
        }
      },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}
