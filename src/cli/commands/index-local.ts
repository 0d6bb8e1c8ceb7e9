import type { Context } from "../context.ts";
import type { IndexReport } from "../index/index-worktree.ts";
import { findProject } from "../project.ts";
import { updateWorkTree, withWriter } from "../session.ts";
import { formatCount, formatDuration } from "../ui.ts";

/** `codectx index --local` */
export async function indexLocal(context: Context, options: { embed: boolean }): Promise<void> {
  const startedAt = performance.now();
  const project = await findProject(context, { listFiles: true });
  const report = await withWriter(context, project, "index --local", async (store) =>
    updateWorkTree(context, project, store, options),
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
    embeddedCount > 0 ? `${formatCount(embeddedCount)} chunks embedded for ${formatCount(credits)} credits` : "",
  ].filter((part) => part !== "");
  const lines = [
    `${formatCount(fileCount)} files, ${formatCount(symbolCount)} symbols, ${formatCount(chunkCount)} chunks in ${formatDuration(durationMs)} (${work.join(", ") || "nothing changed"})`,
  ];
  const left = Object.entries(skipped).map(([reason, count]) => `${formatCount(count)} ${reason}`);
  if (left.length > 0) lines.push(`left out: ${left.join(", ")}`);
  if (partialCount > 0) lines.push(`parsed in part: ${formatCount(partialCount)} files`);
  if (fallbackCount > 0) lines.push(`not parsed, plain chunks only: ${formatCount(fallbackCount)} files`);
  if (redactedCount > 0) lines.push(`withheld: ${formatCount(redactedCount)} chunks that may hold a secret`);
  if (report.fingerprint === null)
    lines.push("without vectors: run `codectx index --local` (without --no-embed) to add them");
  return lines;
}
