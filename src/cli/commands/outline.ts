import { lstatSync } from "node:fs";
import { join } from "node:path";
import { contentLanguage, detectLanguage } from "../../parsing/detect.ts";
import type { CodeSymbol } from "../../parsing/types.ts";
import type { OutlineSymbol } from "../../retrieval/types.ts";
import type { Context } from "../context.ts";
import { CliError, EXIT } from "../exit-codes.ts";
import { FileTree } from "../index/file-tree.ts";
import { stateOf, withLocalIndex } from "../local-search.ts";
import { showPaged } from "../pager.ts";
import { pathInProject, type Project } from "../project.ts";
import { remoteIndex, type RemoteOption, remotePath } from "../remote-search.ts";
import type { LocalIndex } from "../search-index/local-index.ts";
import { emphasize } from "./symbol.ts";

interface Outline {
  language: string;
  symbols: readonly OutlineSymbol[];
}

/** `codectx outline <file>`: the symbols of a file, from the index, or parsed here if it is not indexed. */
export async function outline(context: Context, file: string, options: RemoteOption): Promise<void> {
  const { ref } = options;
  const remote = await remoteIndex(context, options);
  if (remote) {
    const { selector, call } = remote;
    const answer = await remote.client.outline({ ...selector, path: remotePath(context, remote, file, options) }, call);
    return show(context, answer, { gitSha: answer.indexes[0]?.gitSha ?? null, indexes: answer.indexes });
  }
  const { root, state, ...shown } = await withLocalIndex(
    context,
    async (index, project) => {
      const path = pathInProject(project, context.cwd, file);
      const found = (await index.outline(path)) ?? (await unindexed(index, project, path, ref));
      const { language, symbols } = found;
      return { root: project.root, state: stateOf(index), path, language, outline: symbols };
    },
    { ref },
  );
  await show(context, shown, state, root);
}

/** Prints an outline; `root` is the work tree of the path, for links. */
async function show(
  context: Context,
  { path, language, outline: symbols }: { path: string; language: string; outline: readonly OutlineSymbol[] },
  source: object,
  root?: string,
): Promise<void> {
  const { ui } = context;
  // `symbols`: the name in earlier versions, kept for scripts.
  await showPaged(context, { ...source, path, language, outline: symbols, symbols }, () => {
    if (symbols.length === 0) return [`${path} (${language}) has no symbols`];
    return symbols.map(({ name, signature, startLine, endLine, depth }) => {
      const lines = startLine === endLine ? String(startLine) : `${startLine}-${endLine}`;
      const text = ui.style("dim", lines.padEnd(11));
      const place = root === undefined ? text : ui.link(join(root, path), text);
      return `${place} ${"  ".repeat(depth)}${emphasize(context, signature || name, name)}`;
    });
  });
}

/** The outline of a work-tree file that is not indexed. */
async function unindexed(index: LocalIndex, project: Project, path: string, ref: string | undefined): Promise<Outline> {
  if (ref === undefined) return fromFile(path, readSource(index, project, path));
  throw new CliError(EXIT.notFound, "FILE_NOT_FOUND", `${path} is not in the index of ${ref}`);
}

function readSource(index: LocalIndex, project: Project, path: string): Uint8Array {
  const bytes = new FileTree(project.root).read(path);
  if (bytes) return bytes;
  const found = lstatSync(join(project.root, path), { throwIfNoEntry: false });
  if (!found) {
    const similar = index.nearPaths(path);
    const hint = similar.length === 0 ? "" : `; similar: ${similar.join(", ")}`;
    throw new CliError(EXIT.notFound, "FILE_NOT_FOUND", `no such file: ${path}${hint}`, { details: { similar } });
  }
  if (found.isFile()) throw new CliError(EXIT.io, "EACCES", `permission denied: ${path}`);
  throw new CliError(EXIT.usage, "NOT_A_FILE", `${path} is not a regular file`);
}

async function fromFile(path: string, bytes: Uint8Array): Promise<Outline> {
  const named = detectLanguage(path, bytes);
  if (named === undefined)
    throw new CliError(EXIT.usage, "UNKNOWN_LANGUAGE", `codectx does not know the language of ${path}`);
  const { contentSkipReason } = await import("../../parsing/skip.ts");
  const reason = contentSkipReason(bytes);
  if (reason !== undefined)
    throw new CliError(EXIT.usage, "NOT_INDEXED", `${path} is left out of the index: ${reason}`);
  const [{ createParser }, { nodeGrammars }, { packedGrammars }] = await Promise.all([
    import("../../parsing/parser.ts"),
    import("../../parsing/grammars-node.ts"),
    import("../index/parse-pool.ts"),
  ]);
  const parser = await createParser(nodeGrammars(packedGrammars()));
  const language = contentLanguage(named, bytes);
  const { symbols } = await parser.parse({ bytes, language });
  const outlined = symbols.map((symbol) => {
    const { kind, name, qualifiedName, signature, startLine, endLine } = symbol;
    return { kind, name, qualifiedName, signature, startLine, endLine, depth: depthOf(symbols, symbol) };
  });
  return { language, symbols: outlined };
}

function depthOf(symbols: readonly CodeSymbol[], symbol: CodeSymbol): number {
  let depth = 0;
  for (let parent = symbol.parent; parent !== null && depth < symbols.length; depth++)
    parent = symbols[parent]?.parent ?? null;
  return depth;
}
