import { join } from "node:path";
import { MAX_FILE_SIZE_BYTES } from "../../contract/limits.ts";
import { contentLanguage, detectLanguage } from "../../engines/parsing/detect.ts";
import type { CodeSymbol } from "../../engines/parsing/types.ts";
import { OUTLINE } from "../../contract/questions.ts";
import type { Answered, NotFoundError, QuestionAnswer } from "../../interface/questions/code-index.ts";
import { type Hosted, outlineResponse } from "../../interface/questions/http.ts";
import { outline } from "../../interface/questions/questions.ts";
import { ask, show } from "../ask.ts";
import { requestOf } from "../request.ts";
import type { Context } from "../context.ts";
import { CliError, EXIT } from "../exit-codes.ts";
import { FileTree } from "../indexing/file-tree.ts";
import { pathOf, type Project } from "../project.ts";
import type { RemoteOption } from "../remote/remote-search.ts";
import { emphasize } from "./symbol.ts";

type Outline = QuestionAnswer<typeof outline>;

/** `codectx outline <file>`: the symbols of a file, from the index, or parsed here if it is not indexed. */
export async function outlineCommand(context: Context, file: string, options: RemoteOption): Promise<void> {
  const found = await ask(context, outline, {
    options,
    request: (project) => requestOf(OUTLINE, { path: pathOf(context, project, file, options) }),
    otherwise: (project, error) => fromFile(error.value, readSource(project, error)),
  });
  const { path, language, symbols } = found.answer;
  const { ui } = context;
  // `symbols`: the name in earlier versions, kept for scripts.
  const document = (answer: Answered<Outline, Hosted>) => ({ ...outlineResponse(answer), symbols });
  await show(context, found, document, () => {
    if (symbols.length === 0) return [`${path} (${language}) has no symbols`];
    return symbols.map(({ name, signature, startLine, endLine, depth }) => {
      const lines = startLine === endLine ? String(startLine) : `${startLine}-${endLine}`;
      const text = ui.style("dim", lines.padEnd(11));
      const place = found.root === undefined ? text : ui.link(join(found.root, path), text);
      return `${place} ${"  ".repeat(depth)}${emphasize(context, signature || name, name)}`;
    });
  });
}

/** Bytes of a file of the work tree that is not indexed. Throws the error if there is none. */
function readSource(project: Project, error: NotFoundError): Uint8Array {
  const path = error.value;
  const tree = new FileTree(project.root);
  const bytes = tree.read(path, MAX_FILE_SIZE_BYTES + 1);
  if (bytes && bytes.length > MAX_FILE_SIZE_BYTES)
    throw new CliError(EXIT.usage, "NOT_INDEXED", `${path} is left out of the index: too_large`);
  if (bytes) return bytes;
  const irregular = tree.irregular(path);
  if (irregular === "unreadable" || tree.lstat(path))
    throw new CliError(EXIT.io, "EACCES", `permission denied: ${path}`);
  const isFolder = tree.lstatFolder(path) !== undefined;
  if (!isFolder && irregular === undefined) throw error;
  const hint = isFolder ? `a folder: \`codectx files ${path}\` lists it` : "not a regular file";
  throw new CliError(EXIT.usage, "NOT_A_FILE", `${path} is ${hint}`);
}

async function fromFile(path: string, bytes: Uint8Array): Promise<Outline> {
  const named = detectLanguage(path, bytes);
  if (named === undefined)
    throw new CliError(EXIT.usage, "UNKNOWN_LANGUAGE", `codectx does not know the language of ${path}`);
  const { contentSkipReason } = await import("../../engines/parsing/skip.ts");
  const reason = contentSkipReason(bytes);
  if (reason !== undefined)
    throw new CliError(EXIT.usage, "NOT_INDEXED", `${path} is left out of the index: ${reason}`);
  const [{ createParser }, { nodeGrammars }, { packedGrammars }] = await Promise.all([
    import("../../engines/parsing/parser.ts"),
    import("../../engines/parsing/grammars-node.ts"),
    import("../indexing/parse-pool.ts"),
  ]);
  const parser = await createParser(nodeGrammars(packedGrammars()));
  const language = contentLanguage(named, bytes);
  const { symbols } = await parser.parse({ bytes, language });
  const outlined = symbols.map((symbol) => {
    const { kind, name, qualifiedName, signature, startLine, endLine } = symbol;
    return { kind, name, qualifiedName, signature, startLine, endLine, depth: depthOf(symbols, symbol) };
  });
  return { path, revision: 0, language, symbols: outlined };
}

function depthOf(symbols: readonly CodeSymbol[], symbol: CodeSymbol): number {
  let depth = 0;
  for (let parent = symbol.parent; parent !== null && depth < symbols.length; depth++)
    parent = symbols[parent]?.parent ?? null;
  return depth;
}
