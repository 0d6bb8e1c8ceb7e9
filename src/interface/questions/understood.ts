import type { Understood } from "../../engines/search/types.ts";

/** Whether a query has a quoted text, which a file must hold. */
export const hasQuotedText = (query: string): boolean => /"[^"]+"/.test(query);

/** What words of a query were taken for, as a line of text without a full stop. */
export function understoodText(understood: readonly Understood[]): string {
  return `understood ${understood.map(({ word, as }) => `\`${word}\` as \`${as}\``).join(", ")}`;
}
