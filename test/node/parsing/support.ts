import { nodeGrammars } from "../../../src/engines/parsing/grammars-node.ts";
import type { LanguageId } from "../../../src/engines/parsing/languages.ts";
import { type CodeParser, createParser } from "../../../src/engines/parsing/parser.ts";
import { readUses } from "../../../src/engines/relations/read-uses.ts";
import type { Chunk, ParsedFile } from "../../../src/engines/parsing/types.ts";

let parser: Promise<CodeParser> | undefined;

export function sharedParser(): Promise<CodeParser> {
  parser ??= createParser(nodeGrammars(), { readUses });
  return parser;
}

export function encode(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

export async function parseText(language: LanguageId, text: string): Promise<ParsedFile> {
  return (await sharedParser()).parse({ bytes: encode(text), language });
}

/** `12-14 method A.b <- A :: signature # doc`: lines, kind, qualified name; parent, signature and doc where there are any. */
export function summarize(file: ParsedFile): string[] {
  return file.symbols.map((symbol) => {
    const lines = symbol.startLine === symbol.endLine ? `${symbol.startLine}` : `${symbol.startLine}-${symbol.endLine}`;
    const parent = symbol.parent === null ? "" : ` <- ${file.symbols[symbol.parent]!.qualifiedName}`;
    const doc = symbol.doc === null ? "" : ` # ${symbol.doc.replaceAll("\n", "\\n")}`;
    return `${lines} ${symbol.kind} ${symbol.qualifiedName}${parent} :: ${symbol.signature}${doc}`;
  });
}

/** What is wrong with a parse; empty when every promise about ranges holds. */
export function violations(file: ParsedFile, bytes: Uint8Array): string[] {
  const wrong: string[] = [];
  const lines = file.text.split("\n");
  const covered = new Uint8Array(lines.length + 2);
  let last = 0;
  for (const chunk of file.chunks) {
    if (chunk.startLine <= last || chunk.endLine < chunk.startLine) wrong.push(`order at line ${chunk.startLine}`);
    last = chunk.endLine;
    for (let line = chunk.startLine; line <= chunk.endLine; line++) covered[line]!++;
    if (!chunk.withheld && sliceOf(file, bytes, chunk) !== chunk.text) wrong.push(`slice at line ${chunk.startLine}`);
    if (chunk.symbol !== null && file.symbols[chunk.symbol] === undefined)
      wrong.push(`symbol of line ${chunk.startLine}`);
  }
  for (const [index, line] of lines.entries()) {
    const times = covered[index + 1]!;
    if (line.trim() !== "" && times !== 1) wrong.push(`line ${index + 1} covered ${times} times`);
  }
  for (const [index, symbol] of file.symbols.entries()) {
    if (symbol.startLine > symbol.endLine || symbol.endLine > file.lineCount) wrong.push(`lines of ${symbol.name}`);
    if (symbol.startByte >= symbol.endByte || symbol.endByte > bytes.length) wrong.push(`bytes of ${symbol.name}`);
    if (symbol.signature.length > 300 || symbol.signature.includes("\n")) wrong.push(`signature of ${symbol.name}`);
    if (symbol.name === "" || !symbol.qualifiedName.includes(symbol.name)) wrong.push(`name ${symbol.qualifiedName}`);
    if (symbol.parent === index || climbsForever(file, index)) wrong.push(`parent of ${symbol.name}`);
  }
  return wrong;
}

function sliceOf(file: ParsedFile, bytes: Uint8Array, chunk: Chunk): string {
  const slice = bytes.subarray(chunk.startByte, chunk.endByte);
  if (file.encoding === "latin-1") return Buffer.from(slice).toString("latin1");
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(slice);
}

function climbsForever(file: ParsedFile, index: number): boolean {
  let at: number | null = index;
  for (let steps = 0; at !== null; steps++) {
    if (steps > file.symbols.length) return true;
    at = file.symbols[at]!.parent;
  }
  return false;
}
