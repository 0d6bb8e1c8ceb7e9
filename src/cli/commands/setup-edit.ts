import { isDeepStrictEqual } from "node:util";
import { applyEdits, modify, parse, type ParseError, printParseErrorCode } from "jsonc-parser";
import { parse as parseToml, stringify as stringifyToml } from "smol-toml";
import { CliError, EXIT } from "../exit-codes.ts";

/** Name of the server in every client's configuration. */
export const SERVER = "codectx";
/** The table of the servers in a TOML file. */
const TOML_SERVERS = "mcp_servers";
const MAX_DEPTH = 1_000;
const BOM = "\uFEFF";

type Entry = Record<string, unknown>;

export interface Change {
  after: string;
  /** Lines that go: another entry for codectx. */
  removed: string[];
  /** Lines that are new. */
  added: string[];
}

/** What is to stand in a file of settings. */
export interface Wanted {
  file: string;
  /** JSON property with the servers; undefined for TOML. */
  property: string | undefined;
  entry: Entry;
  /** An element of the JSON property `inputs`, told apart by its `id`. */
  input: Entry | undefined;
  /** Whether an entry that is there already does the same. */
  isSame: (entry: unknown) => boolean;
}

/**
 * The change that brings an entry into settings, with comments and form of the rest kept; undefined if it is there. Throws `NOT_JSON`,
 * `NOT_TOML`, `BAD_SETTINGS`, and `OTHER_ENTRY` or `INLINE_TABLE` for TOML that a further table would break.
 */
export function addEntry(before: string | undefined, wanted: Wanted): Change | undefined {
  return wanted.property === undefined
    ? addToml(before ?? "", wanted)
    : addJson(before ?? "", { ...wanted, property: wanted.property });
}

/** The text without the entry, or undefined if there is none. Throws as `addEntry`. */
export function removeEntry(before: string, { file, property }: Pick<Wanted, "file" | "property">): string | undefined {
  if (property === undefined) return removeToml(file, before);
  const [bom, text] = withoutBom(before);
  const servers = serversOf(file, property, readJson(file, text));
  if (!Object.hasOwn(servers, SERVER)) return undefined;
  return bom + applyEdits(text, modify(text, [property, SERVER], undefined, { formattingOptions: formOf(text) }));
}

function addJson(before: string, wanted: Wanted & { property: string }): Change | undefined {
  const { file, property, entry, input, isSame } = wanted;
  const [bom, text] = withoutBom(before);
  const settings = readJson(file, text);
  const servers = serversOf(file, property, settings);
  const known = Object.hasOwn(servers, SERVER) ? servers[SERVER] : undefined;
  const inputs: unknown = settings["inputs"] ?? [];
  if (!Array.isArray(inputs) && input !== undefined)
    throw new CliError(EXIT.usage, "BAD_SETTINGS", `${file}: "inputs" is not a list; nothing was changed`);
  const prompts: unknown[] = Array.isArray(inputs) ? inputs : [];
  const needsInput = input !== undefined && !prompts.some((one) => isObject(one) && one["id"] === input["id"]);
  if (known !== undefined && isSame(known) && !needsInput) return undefined;
  const snippet = (value: unknown, withInput: boolean) =>
    JSON.stringify({ ...(withInput ? { inputs: [input] } : {}), [property]: { [SERVER]: value } }, undefined, 2).split(
      "\n",
    );
  const formattingOptions = formOf(text);
  let after = text.trim() === "" ? "{}\n" : text;
  if (needsInput) {
    const edits = modify(after, ["inputs", prompts.length], input, {
      formattingOptions,
      isArrayInsertion: true,
    });
    after = applyEdits(after, edits);
  }
  after = applyEdits(after, modify(after, [property, SERVER], entry, { formattingOptions }));
  return {
    after: bom + after,
    removed: known === undefined ? [] : snippet(known, false),
    added: snippet(entry, needsInput),
  };
}

/** JSON as the clients read it: with comments and a comma after the last element. */
function readJson(file: string, text: string): Entry {
  if (text.trim() === "") return {};
  // The parser calls itself for each level.
  if (depthOf(text) > MAX_DEPTH)
    throw new CliError(EXIT.usage, "NOT_JSON", `${file} is nested too deeply; nothing was changed`);
  const errors: ParseError[] = [];
  const value: unknown = parse(text, errors, { allowTrailingComma: true });
  const error = errors[0];
  if (error) {
    const line = text.slice(0, error.offset).split("\n").length;
    const why = `${file} is not valid JSON (line ${line}: ${printParseErrorCode(error.error)})`;
    throw new CliError(EXIT.usage, "NOT_JSON", `${why}; correct it first, nothing was changed`);
  }
  if (!isObject(value))
    throw new CliError(EXIT.usage, "BAD_SETTINGS", `${file} holds no JSON object; nothing was changed`);
  return value;
}

/** Brackets open at once, at most; those in strings and comments count too. */
function depthOf(text: string): number {
  let [depth, deepest] = [0, 0];
  for (const character of text) {
    if (character === "{" || character === "[") deepest = Math.max(deepest, ++depth);
    else if (character === "}" || character === "]") depth--;
  }
  return deepest;
}

function serversOf(file: string, property: string, settings: Entry): Entry {
  const servers = settings[property] ?? {};
  if (isObject(servers)) return servers;
  throw new CliError(EXIT.usage, "BAD_SETTINGS", `${file}: "${property}" is not an object; nothing was changed`);
}

/** Indentation and line ends of a text. */
function formOf(text: string): { insertSpaces: boolean; tabSize: number; eol: string } {
  const indent = /^([ \t]+)\S/m.exec(text)?.[1] ?? "  ";
  return {
    insertSpaces: !indent.startsWith("\t"),
    tabSize: indent.startsWith("\t") ? 1 : Math.min(indent.length, 8),
    eol: text.includes("\r\n") ? "\r\n" : "\n",
  };
}

function addToml(before: string, { file, entry, isSame }: Wanted): Change | undefined {
  const settings = readToml(file, before);
  const servers = settings[TOML_SERVERS];
  const eol = before.includes("\r\n") ? "\r\n" : "\n";
  const added = tomlLines(entry);
  if (isObject(servers) && Object.hasOwn(servers, SERVER)) {
    if (isSame(servers[SERVER])) return undefined;
    const text = `${file} has another entry for codectx; replace it by hand: ${added.join(" ")}`;
    throw new CliError(EXIT.usage, "OTHER_ENTRY", text);
  }
  const head = before === "" ? "" : `${before.trimEnd()}${eol}${eol}`;
  const after = `${head}${added.join(eol)}${eol}`;
  const expected = { ...settings, [TOML_SERVERS]: { ...(isObject(servers) ? servers : {}), [SERVER]: entry } };
  let result: unknown;
  try {
    result = parseToml(after);
  } catch {
    result = undefined;
  }
  if (!isDeepStrictEqual(plain(result), plain(expected))) {
    const text = `${file} defines ${TOML_SERVERS} in a form that no further table may follow; add this by hand: ${added.join(" ")}`;
    throw new CliError(EXIT.usage, "INLINE_TABLE", text);
  }
  return { after, removed: [], added };
}

const tomlLines = (entry: Entry): string[] =>
  stringifyToml({ [TOML_SERVERS]: { [SERVER]: entry } })
    .trim()
    .split("\n")
    .filter((line) => line !== "" && line !== `[${TOML_SERVERS}]`);

/** Removes the server's table. Throws `OTHER_ENTRY` if more than the lines below its header define the server. */
function removeToml(file: string, before: string): string | undefined {
  const settings = readToml(file, before);
  const servers = settings[TOML_SERVERS];
  if (!isObject(servers) || !Object.hasOwn(servers, SERVER)) return undefined;
  const lines = before.split("\n");
  const at = lines.findIndex((line) => line.trim() === `[${TOML_SERVERS}.${SERVER}]`);
  const next = lines.findIndex((line, i) => i > at && line.trimStart().startsWith("["));
  if (at >= 0) {
    const after = [...lines.slice(0, at), ...(next < 0 ? [""] : lines.slice(next))].join("\n");
    const { [SERVER]: _, ...others } = servers;
    const left = readToml(file, after);
    if (isDeepStrictEqual(plain({ [TOML_SERVERS]: {}, ...left }), plain({ ...settings, [TOML_SERVERS]: others })))
      return after;
  }
  throw new CliError(EXIT.usage, "OTHER_ENTRY", `${file} defines codectx in more than one table; remove it by hand`);
}

function readToml(file: string, text: string): Entry {
  try {
    return parseToml(withoutBom(text)[1]);
  } catch (error) {
    const why = error instanceof Error ? error.message.split("\n")[0] : String(error);
    throw new CliError(
      EXIT.usage,
      "NOT_TOML",
      `${file} is not valid TOML (${why}); correct it first, nothing was changed`,
    );
  }
}

function withoutBom(text: string): [bom: string, rest: string] {
  return text.startsWith(BOM) ? [BOM, text.slice(1)] : ["", text];
}

/** Objects without prototypes of the parser, for comparisons. */
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value ?? null)) as unknown;

function isObject(value: unknown): value is Entry {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
