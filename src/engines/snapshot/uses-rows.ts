import type { SnapshotUse } from "./types.ts";
import { MAX_EXPRESSION_DEPTH } from "../relations/limits.ts";
import { decodeUses } from "../relations/stored-uses.ts";
import type { Meaning } from "../relations/types.ts";

/**
 * Imports and uses of a record in a form for other tools: the imports first, each in the order of the record. Nothing for an empty record. Throws
 * `SearchFormatError` if the record is damaged.
 */
export function rowsOfUses(record: Uint8Array | undefined): SnapshotUse[] {
  if (record === undefined || record.length === 0) return [];
  const file = decodeUses(record);
  const imports = file.imports.map(({ module, name, line }): SnapshotUse => {
    return { kind: "import", name, line, enclosing: null, meaning: module };
  });
  const uses = file.uses.map(({ kind, name, line, enclosing, meaning }): SnapshotUse => {
    return { kind, name, line, enclosing, meaning: describeMeaning(meaning) };
  });
  return [...imports, ...uses];
}

/** Stands for what the file does not tell, and for what lies too deep. */
const UNKNOWN = "?";

/**
 * A meaning as text: `line 12` for a definition of the file, `module#name` for an import, `x.name` for a member, `x()` for a result,
 * `x(=>)` for what x passes to a callback, `<x>` for a value of type x, `x | y` for x, or y if x is not defined, or if it is the overload that is meant,
 * `x & y` for what both x and y are. Null if the file says nothing.
 */
export function describeMeaning(meaning: Meaning): string | null {
  const text = textOf(meaning, MAX_EXPRESSION_DEPTH);
  return text === UNKNOWN ? null : text;
}

function textOf(meaning: Meaning, depth: number): string {
  if (depth === 0) return UNKNOWN;
  switch (meaning.to) {
    case "local":
    case "variable":
    case "decorated":
    case "overload":
      return `line ${meaning.line}`;
    case "import":
      return `${meaning.module}#${meaning.name}`;
    case "member":
      return `${textOf(meaning.of, depth - 1)}.${meaning.name}`;
    case "returned":
      return `${textOf(meaning.by, depth - 1)}()`;
    case "handed":
      return `${textOf(meaning.by, depth - 1)}(=>)`;
    case "likely":
    case "value":
    case "super":
    case "generic":
      return textOf(meaning.of, depth - 1);
    case "first":
    case "either": {
      // Half of the depth, so that the text of nested ones stays short.
      const [of, otherwise] = [textOf(meaning.of, depth >> 1), textOf(meaning.otherwise, depth - 1)];
      if (of.includes(UNKNOWN)) return otherwise;
      return otherwise === UNKNOWN ? of : `${of} | ${otherwise}`;
    }
    case "same":
      return `${textOf(meaning.of, depth >> 1)} & ${textOf(meaning.otherwise, depth - 1)}`;
    case "instance":
      return `<${textOf(meaning.of, depth - 1)}>`;
    case "opaque":
    case "ambiguous":
    case "global":
      return UNKNOWN;
  }
}
