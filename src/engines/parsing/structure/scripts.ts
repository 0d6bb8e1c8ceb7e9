import type { SourceText } from "../source-text.ts";
import type { Outline } from "../types.ts";
import { matched, OutlineBuilder } from "./outline-builder.ts";

const HASH_COMMENT = /^\s*#/;
const CONTINUED_LEVEL = 95;

/** Build stages from `FROM` to `FROM`; an instruction keeps its continuation lines. */
export function dockerfileOutline(source: SourceText): Outline {
  const builder = new OutlineBuilder(source);
  const stages: { row: number; name: string }[] = [];
  let isContinued = false;
  for (let row = 0; row < source.lineCount; row++) {
    const line = source.line(row);
    if (isContinued) builder.levels[row] = CONTINUED_LEVEL;
    const from = isContinued ? null : /^\s*FROM\s+(?:--\S+\s+)*(\S+)(?:\s+AS\s+(\S+))?/i.exec(matched(line));
    if (from !== null) {
      builder.levels[row] = 1;
      stages.push({ row, name: from[2] ?? from[1]! });
    }
    isContinued = line.trimEnd().endsWith("\\") || (isContinued && HASH_COMMENT.test(line));
  }
  for (const [position, stage] of stages.entries()) {
    const comment = builder.commentAbove(stage.row, HASH_COMMENT);
    builder.add({
      kind: "stage",
      name: stage.name,
      startRow: stage.row,
      endRow: (stages[position + 1]?.row ?? source.lineCount) - 1,
      ...comment,
    });
  }
  return builder.finish();
}

const MAKE_TARGET = /^([^\s:#=?+!][^:#=]*?)\s*::?(?!=)(?!.*:=)/;
const MAKE_VARIABLE = /^(?:export\s+|override\s+)*([\w.-]+)\s*(?:::?:?|\?|\+|!)?=/;
const MAKE_DEFINE = /^define\s+([\w.-]+)/;

/** Targets with their recipes, variables and defines. */
export function makefileOutline(source: SourceText): Outline {
  const builder = new OutlineBuilder(source);
  const variables = new Set<string>();
  let isContinued = false;
  let defineEnd = -1;
  for (let row = 0; row < source.lineCount; row++) {
    const line = source.line(row);
    if (row <= defineEnd) {
      builder.levels[row] = CONTINUED_LEVEL;
      continue;
    }
    const startsHere = !isContinued && !line.startsWith("\t");
    if (!startsHere && line.trim() !== "") builder.levels[row] = CONTINUED_LEVEL;
    isContinued = line.endsWith("\\");
    if (!startsHere || HASH_COMMENT.test(line)) continue;
    const start = matched(line);
    const define = MAKE_DEFINE.exec(start);
    const variable = define === null ? MAKE_VARIABLE.exec(start) : null;
    const target = define === null && variable === null ? MAKE_TARGET.exec(start) : null;
    const name = (define ?? variable ?? target)?.[1];
    if (name === undefined || (target === null && variables.has(name)) || /^(?:\.PHONY$|\$\(eval)/.test(name)) continue;
    if (target === null) variables.add(name);
    const endRow = blockEnd(source, row, define !== null);
    if (define !== null) defineEnd = endRow;
    const comment = builder.commentAbove(row, HASH_COMMENT);
    const kind = target !== null ? "target" : define === null ? "variable" : "macro";
    builder.add({ kind, name, startRow: row, endRow, ...comment });
  }
  return builder.finish();
}

function blockEnd(source: SourceText, start: number, isDefine: boolean): number {
  let row = start;
  while (row + 1 < source.lineCount) {
    const next = source.line(row + 1);
    if (isDefine) {
      row++;
      if (/^endef\b/.test(next)) break;
    } else if (source.line(row).endsWith("\\") || next.startsWith("\t")) row++;
    else break;
  }
  return row;
}
