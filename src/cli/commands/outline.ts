import { lstatSync } from "node:fs";
import { join } from "node:path";
import { detectLanguage } from "../../parsing/detect.ts";
import { sha256 } from "../checksum.ts";
import type { Context } from "../context.ts";
import { CliError, EXIT } from "../exit-codes.ts";
import { FileTree } from "../index/file-tree.ts";
import { indexedFile, symbolsOf } from "../index/query.ts";
import type { CodeSymbol } from "../../parsing/types.ts";
import { findProject, pathInProject, type Project } from "../project.ts";
import { readIndex } from "../reading.ts";

interface Outline {
  language: string;
  symbols: readonly CodeSymbol[];
}

/** `codectx outline <file>`: the symbols of a file as it is now, from the index where it knows that content. */
export async function outline(context: Context, file: string): Promise<void> {
  const project = await findProject(context);
  const path = pathInProject(project, context.cwd, file);
  const bytes = readSource(project, path);
  const { language, symbols } = (await fromIndex(context, project, path, bytes)) ?? (await fromFile(path, bytes));
  context.ui.result({ path, language, symbols }, () => {
    if (symbols.length === 0) return `${path} (${language}) has no symbols`;
    return symbols.map((symbol) => {
      const indent = "  ".repeat(depthOf(symbols, symbol));
      const lines = context.ui.style("dim", `${symbol.startLine}-${symbol.endLine}`.padEnd(11));
      return `${lines} ${indent}${context.ui.style("dim", symbol.kind)} ${context.ui.style("bold", symbol.name)}  ${symbol.signature}`;
    });
  });
}

function readSource(project: Project, path: string): Uint8Array {
  const bytes = new FileTree(project.root).read(path);
  if (bytes) return bytes;
  const found = lstatSync(join(project.root, path), { throwIfNoEntry: false });
  if (!found) throw new CliError(EXIT.notFound, "FILE_NOT_FOUND", `no such file: ${path}`);
  if (found.isFile()) throw new CliError(EXIT.io, "EACCES", `permission denied: ${path}`);
  throw new CliError(EXIT.usage, "NOT_A_FILE", `${path} is not a regular file`);
}

async function fromIndex(
  context: Context,
  project: Project,
  path: string,
  bytes: Uint8Array,
): Promise<Outline | undefined> {
  return readIndex(context, project, async (store, worktree) => {
    const known = indexedFile(store, worktree, path);
    const digest = sha256(bytes);
    const language = known?.language ?? detectLanguage(path, bytes);
    if (language === undefined) return undefined;
    const isKnown = known !== undefined && digest.equals(known.sha256);
    const contentId = isKnown ? known.contentId : store.findContent(digest, language);
    return contentId === undefined ? undefined : { language, symbols: await symbolsOf(store, contentId) };
  });
}

async function fromFile(path: string, bytes: Uint8Array): Promise<Outline> {
  const language = detectLanguage(path, bytes);
  if (language === undefined)
    throw new CliError(EXIT.usage, "UNKNOWN_LANGUAGE", `${path} is of no language that codectx knows`);
  const { contentSkipReason } = await import("../../parsing/skip.ts");
  const reason = contentSkipReason(bytes, language);
  if (reason !== undefined)
    throw new CliError(EXIT.usage, "NOT_INDEXED", `${path} is left out of the index: ${reason}`);
  const [{ createParser }, { nodeGrammars }, { packedGrammars }] = await Promise.all([
    import("../../parsing/parser.ts"),
    import("../../parsing/grammars-node.ts"),
    import("../index/parse-pool.ts"),
  ]);
  const parser = await createParser(nodeGrammars(packedGrammars()));
  const { symbols } = await parser.parse({ bytes, language });
  return { language, symbols };
}

function depthOf(symbols: readonly CodeSymbol[], symbol: CodeSymbol): number {
  let depth = 0;
  for (let parent = symbol.parent; parent !== null && depth < symbols.length; depth++)
    parent = symbols[parent]?.parent ?? null;
  return depth;
}
