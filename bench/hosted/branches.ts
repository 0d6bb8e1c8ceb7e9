/** Many branches of one repository in one workspace: what each further one costs, and whether its answers are its own. */
import type { RunningService } from "../../src/tooling/local/stack/service.ts";
import { listBytes } from "../search/costs.ts";
import { median, timed } from "../support.ts";
import { answerTo, gitIn, indexRef, newTeam, questionsAbout, spread, tagsOf } from "./team.ts";

const QUESTIONS = 12;

interface Cost {
  ref: string;
  /** Files of the branch whose contents no branch before it has. */
  newFiles: number;
  files: number;
  embedded: number;
  segmentBytes: number;
  tableBytes: number;
  ms: number;
}

/** Prints the costs of `count` tags taken as branches, and how many answers differ from those of a workspace with that branch alone. */
export async function benchBranches(
  { running, url, repository }: { running: RunningService; url: string; repository: string },
  count: number,
): Promise<void> {
  const refs = spread(tagsOf(repository), count);
  const team = await newTeam(running.service);
  const known = new Set<string>();
  const costs: Cost[] = [];
  let before = await listBytes(running, team.tenantId);
  for (const [i, ref] of refs.entries()) {
    const blobs = gitIn(repository, "ls-tree", "-r", ref)
      .split("\n")
      .map((line) => line.split(/\s+/)[2] ?? "");
    const newFiles = blobs.filter((oid) => !known.has(oid)).length;
    for (const oid of blobs) known.add(oid);
    const { ms, value } = await timed(() => indexRef(team, url, ref, i === 0));
    const after = await listBytes(running, team.tenantId);
    const bytesOf = (kind: string) =>
      [...after].reduce((sum, [key, own]) => (before.has(key) || !key.includes(`/${kind}/`) ? sum : sum + own), 0);
    const { embeddedCount: embedded, fileCount: files } = value;
    costs.push({
      ref,
      newFiles,
      files,
      embedded,
      segmentBytes: bytesOf("segments"),
      tableBytes: bytesOf("tables"),
      ms,
    });
    before = after;
  }
  report(costs);
  const questions = questionsAbout(repository, refs.at(-1) ?? "HEAD", QUESTIONS);
  let different = 0;
  for (const ref of refs) {
    const fresh = await newTeam(running.service);
    await indexRef(fresh, url, ref);
    for (const question of questions) {
      if ((await answerTo(question, team, ref)) === (await answerTo(question, fresh, ref))) continue;
      different++;
      console.log(`  ${ref} answers otherwise than a fresh workspace`);
    }
  }
  console.log(
    `${refs.length} branches, ${QUESTIONS} questions each: ${different} answers differ from a fresh workspace's`,
  );
}

function report([first, ...further]: readonly Cost[]): void {
  if (!first) return;
  const kb = (bytes: number) => `${(bytes / 1024).toFixed(0)} KB`;
  const line = ({ ref, newFiles, files, embedded, segmentBytes, tableBytes, ms }: Cost) =>
    `${ref}  ${newFiles} new of ${files} files, ${embedded} chunks embedded, segments ${kb(segmentBytes)}, table ${kb(tableBytes)}, ${ms.toFixed(0)} ms`;
  console.log(`first branch     ${line(first)}`);
  for (const cost of further) console.log(`  ${line(cost)}`);
  const byChange = further.toSorted((a, b) => a.newFiles - b.newFiles);
  const third = Math.ceil(byChange.length / 3);
  for (const [label, group] of [
    ["least changed third", byChange.slice(0, third)],
    ["most changed third", byChange.slice(-third)],
  ] as const) {
    const of = (key: Exclude<keyof Cost, "ref">) => median(group.map((cost) => cost[key]));
    console.log(
      `${label}, medians  ${of("newFiles")} new files, ${of("embedded")} embedded, segments ${kb(of("segmentBytes"))}, table ${kb(of("tableBytes"))}, ${of("ms").toFixed(0)} ms`,
    );
  }
}
