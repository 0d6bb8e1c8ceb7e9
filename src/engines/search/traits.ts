/** Kinds of file, as its path and language show them. */
import { wordSet } from "../../lib/word-set.ts";
import type { IncludeKind } from "./types.ts";

/** Kinds of file that rank lower, as bits of a number. */
export const TRAIT = {
  test: 1,
  example: 2,
  docs: 4,
  data: 8,
  old: 16,
  header: 32,
  internal: 64,
  generated: 128,
} as const;

/** Traits of files that are listed after the sources. */
export const ASIDE = TRAIT.test | TRAIT.example | TRAIT.docs | TRAIT.generated;

/** What a request that asks for a kind of file includes. */
export const INCLUDED: Record<IncludeKind, number> = {
  tests: TRAIT.test,
  docs: TRAIT.docs,
  examples: TRAIT.example,
  generated: TRAIT.generated,
};

const TEST_FOLDERS = wordSet(
  "testdata __mocks__ __fixtures__ __snapshots__ e2e unittest unittests testsuite testutil testutils " +
    "testhelper testhelpers testlib testsupport fixture fixtures mock mocks regress fuzz fuzzing",
);
/** `t` is the folder of tests of Perl, and of projects that follow it. */
const TOP_TEST_FOLDERS = wordSet("t testing");
/** A word of a folder's name, as in `integration_tests` or `test-utils`. */
const TEST_WORD = /(?:^|_)(?:tests?|specs?)(?:_|$)|(?:^|_)testing_/;
const EXAMPLE_FOLDERS = wordSet(
  "example examples demo demos sample samples playground sandbox tutorial tutorials docs_src bench benches benchmark benchmarks perf",
);
const DOCS_FOLDERS = wordSet("doc docs documentation website wiki man");
const OLD_FOLDERS = wordSet("legacy compat deprecated obsolete old attic");
const INTERNAL_FOLDERS = wordSet("internal internals _internal impl detail details private _private");
/** Code that nobody edits here: generated, or vendored. */
const GENERATED_FOLDERS = wordSet("generated gen _generated autogen vendor _vendor vendored third_party thirdparty");

const DOCS_LANGUAGES = wordSet("markdown rst rdoc asciidoc text html");
const DATA_LANGUAGES = wordSet("json yaml toml xml ini css sql csv properties dockerfile makefile text go-mod");

const HEADER_OF = new Map([
  ["h", ["c", "cc", "cpp", "cxx", "m", "mm"]],
  ["hpp", ["cpp", "cc"]],
  ["hh", ["cc", "cpp"]],
]);

export interface PathParts {
  /** Folders from the root, as written. */
  folders: string[];
  /** Name of the file. */
  name: string;
  /** Name up to its first dot that is not its first character. */
  stem: string;
  /** What follows the last dot of the name, in lower case; empty without a dot. */
  extension: string;
}

export function splitPath(path: string): PathParts {
  const folders = path.split("/");
  const name = folders.pop() ?? "";
  const dot = name.indexOf(".", 1);
  const last = name.lastIndexOf(".");
  return {
    folders,
    name,
    stem: dot < 0 ? name : name.slice(0, dot),
    extension: last <= 0 ? "" : name.slice(last + 1).toLowerCase(),
  };
}

/** Folders of other people's code at the root of a repository. They may be the sources themselves elsewhere, so ranking disregards them. */
const VENDORED = /^(?:deps|external|extern|3rdparty|subprojects)\//i;

/** Whether look-ups list a file after the sources: it has an `ASIDE` trait, or is in a folder of other people's code. */
export function isAside(path: string, traits: number): boolean {
  return (traits & ASIDE) !== 0 || VENDORED.test(path);
}

/** `ASIDE` traits of a file, which its path and language say. */
export function asideTraits(path: string, language: string): number {
  const parts = splitPath(path);
  return (folderTraits(parts.folders) | fileTraits(path, parts, language, () => true)) & ASIDE;
}

export function folderTraits(given: readonly string[]): number {
  const folders = given.map((folder) => folder.toLowerCase().replace(/[-.]/g, "_"));
  let traits = 0;
  if (folders.some((folder) => TEST_FOLDERS.has(folder) || TEST_WORD.test(folder))) traits |= TRAIT.test;
  if (TOP_TEST_FOLDERS.has(folders[0] ?? "")) traits |= TRAIT.test;
  if (given.some((folder) => /[a-z0-9](?:Tests?|Specs?)$/.test(folder))) traits |= TRAIT.test;
  if (folders.some((folder) => EXAMPLE_FOLDERS.has(folder))) traits |= TRAIT.example;
  if (folders.some((folder) => DOCS_FOLDERS.has(folder))) traits |= TRAIT.docs;
  if (folders.some((folder) => OLD_FOLDERS.has(folder))) traits |= TRAIT.old;
  if (folders.some((folder) => INTERNAL_FOLDERS.has(folder))) traits |= TRAIT.internal;
  if (folders.some((folder) => GENERATED_FOLDERS.has(folder))) traits |= TRAIT.generated;
  return traits;
}

export function fileTraits(
  path: string,
  parts: PathParts,
  language: string,
  exists: (path: string) => boolean,
): number {
  const { name, stem, extension } = parts;
  let traits = 0;
  if (isTestName(name, stem)) traits |= TRAIT.test;
  if (DOCS_LANGUAGES.has(language)) traits |= TRAIT.docs;
  if (DATA_LANGUAGES.has(language)) traits |= TRAIT.data;
  if (isVersionCopy(path, parts, exists)) traits |= TRAIT.old;
  const sources = HEADER_OF.get(extension);
  const base = path.slice(0, path.length - extension.length);
  const isStub = extension === "pyi" || /\.d\.[cm]?ts$/.test(name);
  if (isStub || sources?.some((source) => exists(base + source))) traits |= TRAIT.header;
  if (/\.(?:pb|gen|generated|g|designer)\.|_pb2/i.test(name) || /_(?:generated|gen)$/i.test(stem))
    traits |= TRAIT.generated;
  return traits;
}

function isTestName(name: string, stem: string): boolean {
  if (/^tests?_|^tests?$|^conftest$|_tests?$|_spec$/i.test(stem) || /\.(?:tests?|spec|e2e)\./i.test(name)) return true;
  return /[a-z0-9](?:Tests?|Spec|TestCase)$/.test(stem);
}

/** A version folder within joined paths, each ended by a NUL: those of which `isVersionCopy` asks whether another path exists. */
export const VERSION_FOLDERS = /(?:^|[/\0])v\d{1,3}\//gi;

/** A folder like `v1` in the path of a file that also exists without it. */
function isVersionCopy(path: string, { folders }: PathParts, exists: (path: string) => boolean): boolean {
  return folders.some((folder, i) => {
    if (!/^v\d{1,3}$/i.test(folder)) return false;
    return exists(path.split("/").toSpliced(i, 1).join("/"));
  });
}
