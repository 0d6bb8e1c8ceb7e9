import { type Token, tokenize } from "./highlight.ts";

/** Code with line numbers, highlighted. `firstLine` is the number of its first line. */
export function Code({
  text,
  language,
  firstLine,
  label,
}: {
  text: string;
  language: string;
  firstLine: number;
  label: string;
}) {
  const lines = splitLines(tokenize(text.replace(/\n$/, ""), language));
  return (
    <pre tabindex={0} role="region" aria-label={label}>
      <code>
        {lines.map((tokens, i) => (
          <>
            <span class="line-no" aria-hidden="true">
              {firstLine + i}
            </span>
            {tokens.map(({ kind, text }) => (kind === undefined ? text : <span class={`hl-${kind}`}>{text}</span>))}
            {i < lines.length - 1 ? "\n" : ""}
          </>
        ))}
      </code>
    </pre>
  );
}

/** Groups tokens by line; a token that spans lines is split. */
function splitLines(tokens: readonly Token[]): Token[][] {
  const lines: Token[][] = [[]];
  for (const { kind, text } of tokens) {
    for (const [i, part] of text.split("\n").entries()) {
      if (i > 0) lines.push([]);
      if (part !== "") lines.at(-1)?.push({ kind, text: part });
    }
  }
  return lines;
}
