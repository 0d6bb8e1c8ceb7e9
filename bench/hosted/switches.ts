/** Queries while runs switch revisions: each answer must be wholly from one of them. */
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { ServiceFile } from "../../src/tooling/local/stack/service-file.ts";
import { commitAll } from "../search/corpus.ts";
import { gitIn, indexRef, newTeam } from "./team.ts";

const FILES = 12;
const CLIENTS = 8;

/** Prints how many of at least `queries` answers mixed revisions during `switches` runs. `served` is the folder the git server serves. */
export async function benchSwitches(
  service: ServiceFile,
  { origin, served }: { origin: string; served: string },
  { queries, switches }: { queries: number; switches: number },
): Promise<void> {
  const tree = path.join(served, "switches");
  const team = await newTeam(service);
  const versions = new Map<string, number>();
  const push = async (version: number) => {
    mkdirSync(path.join(tree, "src"), { recursive: true });
    for (let i = 0; i < FILES; i++) {
      const text = `/** Renews lease ${i}. */\nexport function renew${i}(): string {\n  return "version ${version}";\n}\n`;
      writeFileSync(path.join(tree, "src", `lease-${i}.ts`), text);
    }
    commitAll(tree, `version ${version}`);
    versions.set(gitIn(tree, "rev-parse", "HEAD"), version);
    await indexRef(team, `${origin}/switches`);
  };
  await push(0);
  let asked = 0;
  let mixed = 0;
  const seen = new Set<number>();
  const runs = { areDone: false };
  const client = async () => {
    while (!runs.areDone || asked < queries) {
      const { results, indexes } = await team.client.search({
        workspaceId: team.workspaceId,
        query: "renew lease version",
        limit: FILES,
      });
      asked++;
      const version = versions.get(indexes[0]?.gitSha ?? "");
      if (version !== undefined) seen.add(version);
      const isWhole =
        results.length === FILES &&
        results.every(
          ({ gitSha, excerpts }) =>
            versions.get(gitSha) === version && excerpts.every(({ text }) => text.includes(`"version ${version}"`)),
        );
      if (!isWhole) mixed++;
    }
  };
  const clients = Promise.all(Array.from({ length: CLIENTS }, client));
  for (let version = 1; version <= switches; version++) await push(version);
  runs.areDone = true;
  await clients;
  console.log(
    `${asked} queries during ${switches} switches: ${mixed} answers not wholly from one revision (${seen.size} revisions seen)`,
  );
}
