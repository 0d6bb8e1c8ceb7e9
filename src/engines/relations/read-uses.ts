import { COMPONENT_LINE, isComponentLanguage } from "../parsing/component-names.ts";
import type { FoundFunction, ReadUses, UsesReader } from "../parsing/uses-reader.ts";
import { readC } from "./c.ts";
import type { SyntaxNode } from "../parsing/syntax-node.ts";
import { readCpp } from "./cpp.ts";
import { readCsharp } from "./csharp.ts";
import { readRazor, readRazorMarkup } from "./csharp-razor.ts";
import { FileBuilder, MAX_USES } from "./file-builder.ts";
import { readGo } from "./go.ts";
import { readJava } from "./java.ts";
import { readKotlin } from "./kotlin.ts";
import { hasUses, type LanguageWithUses } from "./languages.ts";
import { namedUsesOf } from "./named-uses.ts";
import { readPhp } from "./php.ts";
import { readPython } from "./python.ts";
import { encodeUses } from "./record.ts";
import { readRuby } from "./ruby.ts";
import { readRust } from "./rust.ts";
import { readTypeScript } from "./typescript.ts";
import type { FileUses } from "./types.ts";

const READERS: Readonly<Record<LanguageWithUses, (root: SyntaxNode, file: FileBuilder) => void>> = {
  typescript: readTypeScript,
  tsx: readTypeScript,
  vue: readTypeScript,
  svelte: readTypeScript,
  astro: readTypeScript,
  javascript: readTypeScript,
  python: readPython,
  notebook: readPython,
  starlark: readPython,
  go: readGo,
  java: readJava,
  c: readC,
  yacc: readC,
  lex: readC,
  rust: readRust,
  cpp: readCpp,
  php: readPhp,
  blade: readPhp,
  csharp: readCsharp,
  razor: readRazor,
  ruby: readRuby,
  erb: readRuby,
  haml: readRuby,
  slim: readRuby,
  kotlin: readKotlin,
  swift: namedUsesOf("swift"),
  scala: namedUsesOf("scala"),
  lua: namedUsesOf("lua"),
  bash: namedUsesOf("bash"),
  elixir: namedUsesOf("elixir"),
  zig: namedUsesOf("zig"),
  dart: namedUsesOf("dart"),
};

/** Reads the uses of a file for its record. */
export const readUses: UsesReader = (root, language) =>
  hasUses(language) ? new FileReader(root, language) : undefined;

class FileReader implements ReadUses {
  readonly #language: LanguageWithUses;
  readonly #builder = new FileBuilder();
  readonly #file: FileUses;
  /** Uses that the builder has given. */
  readonly #given: number;
  #lines: ReadonlySet<number> | undefined;
  #hasAdded = false;
  /** Whether a component exports its options, which may have what its markup names. */
  #hasOptions = false;

  constructor(root: SyntaxNode, language: LanguageWithUses) {
    this.#language = language;
    READERS[language](root, this.#builder);
    this.#file = this.#builder.finish();
    this.#given = this.#file.uses.length;
    // What others import of it is the component, whatever its script exports.
    if (!isComponentLanguage(language)) return;
    this.#hasOptions = this.#file.exports.has("default");
    this.#file.exports.set("default", { to: "local", line: COMPONENT_LINE });
  }

  get count(): number {
    return this.#file.uses.filter(({ kind }) => kind !== "reference").length;
  }

  hasBetween(from: number, to: number): boolean {
    const lines = (this.#lines ??= new Set(this.#file.uses.map(({ line }) => line)));
    for (let line = from; line <= to; line++) if (lines.has(line)) return true;
    return false;
  }

  addNamed(root: SyntaxNode): void {
    const { uses } = this.#file;
    const part = new FileBuilder();
    READERS[this.#language](root, part);
    for (const use of part.finish().uses)
      if (uses.length < MAX_USES) uses.push({ ...use, meaning: { to: "ambiguous" } });
    this.#hasAdded = true;
  }

  addFunctions(find: () => readonly FoundFunction[]): void {
    if (READERS[this.#language] !== readC) return;
    const { bindings, exports } = this.#file;
    for (const [name, [only, ...others]] of Map.groupBy(find(), (each) => each.name)) {
      // Which of several is meant depends on the build.
      if (!only || others.length > 0 || bindings.has(name)) continue;
      bindings.set(name, { to: "local", line: only.line });
      exports.set(name, { to: "local", line: only.line });
    }
  }

  addMarkup(root: SyntaxNode, names: ReadonlySet<string>): void {
    const { uses } = this.#file;
    if (this.#language === "razor") readRazorMarkup(root, this.#builder);
    else this.#readScriptMarkup(root, names);
    for (const use of this.#builder.finish().uses.slice(this.#given)) if (uses.length < MAX_USES) uses.push(use);
    this.#hasAdded = true;
  }

  #readScriptMarkup(root: SyntaxNode, names: ReadonlySet<string>): void {
    const scope = this.#builder.inner(this.#builder.top, undefined);
    scope.isMarkup = true;
    scope.isOpen = this.#hasOptions;
    for (const name of names) scope.names.set(name, { is: "several" });
    readTypeScript(root, this.#builder, scope);
  }

  record(isWithheld: (text: string) => boolean): Uint8Array {
    if (this.#hasAdded) this.#file.uses.sort((a, b) => a.line - b.line);
    return encodeUses(this.#file, isWithheld);
  }
}
