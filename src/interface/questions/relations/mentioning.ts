/** Which files are read to find the uses of definitions. */
import { mayCall, mayCallIn, readsUsesOf } from "../../../engines/relations/languages.ts";
import { folderOf } from "../../../engines/relations/modules.ts";
import type { QuestionFiles } from "../../../engines/relations/question-files.ts";
import { lastPart } from "../../../engines/search/names.ts";
import type { FoundUse } from "./found.ts";

/** Files that mention a name that are read for it. */
const MAX_FILES = 1_000;

export interface FilesToRead {
  /** In languages with rules. */
  paths: ReadonlySet<string>;
  /** In languages without. */
  others: ReadonlySet<string>;
  /** There are more. */
  truncated: boolean;
}

/**
 * Files that mention one of some names, in languages that may call the definitions in the files `near`: those with rules, and of those without
 * the ones that mention the first name. If there are too many, files that also mention one of `owners` come first. These are the types that the
 * definitions are members of, as `Queue` is for `Queue::push`, whose name is used in thousands of files.
 */
export async function filesMentioning(
  index: QuestionFiles,
  names: ReadonlySet<string>,
  { near, owners }: { near: readonly string[]; owners: ReadonlySet<string> },
): Promise<FilesToRead> {
  const paths = new Set<string>();
  let others: string[] | undefined;
  let truncated = false;
  let ofOwners: ReadonlySet<string> | undefined;
  const languages = [...new Set(near.map((path) => index.language(path)))];
  // Helm makes files of data of templates.
  const isOfTemplates = languages.includes("template");
  for (const name of names) {
    const mentioning = await index.mentioning(lastPart(name).replace(/!$/, ""), near);
    const files = mentioning.filter(
      ({ path, language }) =>
        (mayCall(language) || isMdx(path) || (isOfTemplates && /^(?:yaml|json|text)$/.test(language))) &&
        languages.some((called) => mayCallIn(language, called)) &&
        maySee(path, name, near),
    );
    // Thousands of pages of documentation must not take the places of the sources.
    const isRead = ({ language }: { language: string }): boolean =>
      languages.some((called) => readsUsesOf(language, called));
    let withRules = files.filter(isRead).map(({ path }) => path);
    let without = files.filter((file) => !isRead(file)).map(({ path }) => path);
    if (without.length > MAX_FILES) without = withFirst(without, inFoldersOf(near, without));
    if (withRules.length > MAX_FILES) {
      ofOwners ??= await pathsMentioning(index, owners, near);
      withRules = withFirst(withRules, ofOwners);
    }
    if (withRules.length > MAX_FILES || without.length > MAX_FILES) truncated = true;
    for (const path of withRules.slice(0, MAX_FILES)) paths.add(path);
    others ??= without.slice(0, MAX_FILES);
  }
  return { paths, others: new Set(others), truncated };
}

/** Whether a file is documentation in which components of scripts stand. */
export const isMdx = (path: string): boolean => /\.(?:mdx|mdoc|svx)$/.test(path);

/** Whether a file may see a definition of a name in the files `near`: in Go, a name that begins with a small letter is seen in its package only. */
function maySee(path: string, name: string, near: readonly string[]): boolean {
  if (!path.endsWith(".go") || /^\p{Lu}/u.test(name)) return true;
  return near.some((own) => !own.endsWith(".go") || folderOf(own) === folderOf(path));
}

/** The files that mention a name, in languages that may call what is defined in the files `near`. */
export async function filesThatMayCall(
  files: QuestionFiles,
  name: string,
  near: readonly string[],
): Promise<{ path: string; language: string }[]> {
  const languages = near.map((path) => files.language(path));
  const mentioning = await files.mentioning(lastPart(name), near);
  return mentioning.filter(({ language }) => mayCall(language) && languages.some((of) => mayCallIn(language, of)));
}

/** For each name, the lines of some files that mention it and pass, as uses by name. */
export async function usesByName(
  files: QuestionFiles,
  wanted: readonly { name: string; paths: ReadonlySet<string> }[],
  passes: (line: { path: string; line: number; text: string }, name: string) => boolean,
): Promise<FoundUse[][]> {
  const lines = await files.linesMentioning(wanted);
  return wanted.map(({ name }, i) =>
    (lines[i] ?? []).flatMap((found): FoundUse[] =>
      passes(found, name) ? [{ path: found.path, line: found.line, certainty: "name", distance: 1 }] : [],
    ),
  );
}

/** The lines of ranges of files, trimmed, for each range; those of a file's end that are asked for beyond it are empty. */
export async function rangesOf(
  files: QuestionFiles,
  ranges: readonly { path: string; first: number; last: number }[],
): Promise<{ line: number; text: string }[][]> {
  const places = ranges.map(({ path, first, last }) =>
    Array.from({ length: last - first + 1 }, (_, i) => ({ path, line: first + i })),
  );
  // They come in the order asked for. Their paths would not do: those of other repositories are marked.
  const lines = places.length === 0 ? [] : await files.lines(places.flat());
  let from = 0;
  return places.map((asked) => {
    const texts = lines.slice(from, (from += asked.length));
    return asked.map(({ line }, i) => ({ line, text: texts[i]?.text.trim() ?? "" }));
  });
}

async function pathsMentioning(
  index: QuestionFiles,
  names: ReadonlySet<string>,
  near: readonly string[],
): Promise<ReadonlySet<string>> {
  const files = await Promise.all([...names].map((name) => index.mentioning(name, near)));
  return new Set(files.flat().map(({ path }) => path));
}

/** The paths that are in the same folders as the files `near`. */
function inFoldersOf(near: readonly string[], paths: readonly string[]): ReadonlySet<string> {
  const folders = new Set(near.map(folderOf));
  return new Set(paths.filter((path) => folders.has(folderOf(path))));
}

function withFirst(paths: readonly string[], first: ReadonlySet<string>): string[] {
  return [...paths.filter((path) => first.has(path)), ...paths.filter((path) => !first.has(path))];
}
