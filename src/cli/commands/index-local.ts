import { type Context, credentialsOf } from "../context.ts";
import type { IndexReport } from "../indexing/index-worktree.ts";
import { findProject } from "../project.ts";
import { updateForSearch } from "../local-index/update.ts";
import { withWriter } from "../indexing/session.ts";
import { formatCount, formatDuration, plural } from "../terminal/ui.ts";

/** `codectx index --local` */
export async function indexLocal(context: Context, options: { embed: boolean }): Promise<void> {
  const startedAt = performance.now();
  const project = await findProject(context, { listFiles: true });
  // Vectors are made by the service; searching needs none.
  const embed = options.embed && credentialsOf(context).apiKey !== undefined;
  const report = await withWriter(context, project, "index --local", async (store) =>
    updateForSearch(context, project, store, { embed }),
  );
  const durationMs = Math.round(performance.now() - startedAt);
  context.ui.result({ root: project.root, repo: project.repo ?? null, ...rounded(report), durationMs }, () =>
    describeReport(report, durationMs),
  );
}

export function rounded(report: IndexReport): IndexReport {
  return { ...report, embedMs: Math.round(report.embedMs) };
}

export function describeReport(report: IndexReport, durationMs: number): string[] {
  const {
    fileCount,
    symbolCount,
    chunkCount,
    parsedFiles,
    embeddedCount,
    credits,
    redactedCount,
    fallbackCount,
    partialCount,
    skipped,
    removedFiles,
  } = report;
  const work = [
    parsedFiles > 0 ? `${formatCount(parsedFiles)} parsed` : "",
    removedFiles > 0 ? `${formatCount(removedFiles)} removed` : "",
    embeddedCount > 0 ? `${plural(embeddedCount, "chunk")} embedded for ${plural(credits, "credit")}` : "",
  ].filter((part) => part !== "");
  const lines = [
    `${plural(fileCount, "file")}, ${plural(symbolCount, "symbol")}, ${plural(chunkCount, "chunk")} in ${formatDuration(durationMs)} (${work.join(", ") || "nothing changed"})`,
  ];
  const left = Object.entries(skipped).map(([reason, count]) => `${formatCount(count)} ${reason}`);
  if (left.length > 0) lines.push(`left out: ${left.join(", ")}`);
  if (partialCount > 0) lines.push(`parsed in part: ${plural(partialCount, "file")}`);
  if (fallbackCount > 0) lines.push(`not parsed, plain chunks only: ${plural(fallbackCount, "file")}`);
  if (redactedCount > 0) lines.push(`withheld: ${plural(redactedCount, "chunk")} that may contain a secret`);
  if (report.fingerprint === null)
    lines.push("without vectors: `codectx index --local` with an API key (`codectx login`) adds them");
  return lines;
}
