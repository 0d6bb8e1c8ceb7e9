/** A position in a file; line and column are 1-based. */
export interface Position {
  path: string;
  line: number;
  column?: number;
}

/** Reads `path:line` or `path:line:column`; undefined for anything else. */
export function parsePosition(text: string): Position | undefined {
  const [, path, first, second] = /^([^]+?):([1-9]\d{0,8})(?::([1-9]\d{0,8}))?$/.exec(text) ?? [];
  if (path === undefined || first === undefined) return undefined;
  return { path, line: Number(first), ...(second !== undefined && { column: Number(second) }) };
}
