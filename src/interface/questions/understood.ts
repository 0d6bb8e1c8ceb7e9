import type { Understood } from "../../engines/search/types.ts";

/** What words of a query were taken for, as a line of text without a full stop. */
export function understoodText(understood: readonly Understood[]): string {
  return `understood ${understood.map(({ word, as }) => `\`${word}\` as \`${as}\``).join(", ")}`;
}
