/** Which files are read to find the uses of definitions. */
import { hasUses, mayCall, mayCallIn } from "../../../engines/relations/languages.ts";
import type { QuestionFiles } from "../../../engines/relations/question-files.ts";

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
 * the ones that mention the first name. Of too many, those come first that mention one of `owners`, the types that the definitions are
 * members of: `Queue::push` stands among a thousand other calls of a `push`.
 */
export async function filesMentioning(
  index: QuestionFiles,
  names: ReadonlySet<string>,
  { near, owners }: { near: readonly string[]; owners: ReadonlySet<string> },
): Promise<FilesToRead> {
  const paths = new Set<string>();
  let others: string[] | undefined;
  let truncated = false;
  const languages = [...new Set(near.map((path) => index.language(path)))];
  for (const name of names) {
    const mentioning = await index.mentioning(name, near);
    const files = mentioning.filter(
      ({ language }) => mayCall(language) && languages.some((called) => mayCallIn(language, called)),
    );
    // Thousands of pages of documentation must not take the places of the sources.
    let withRules = files.filter(({ language }) => hasUses(language)).map(({ path }) => path);
    const without = files.filter(({ language }) => !hasUses(language)).map(({ path }) => path);
    if (withRules.length > MAX_FILES) withRules = await ownersFirst(index, withRules, { near, owners });
    if (withRules.length > MAX_FILES || without.length > MAX_FILES) truncated = true;
    for (const path of withRules.slice(0, MAX_FILES)) paths.add(path);
    others ??= without.slice(0, MAX_FILES);
  }
  return { paths, others: new Set(others), truncated };
}

async function ownersFirst(
  index: QuestionFiles,
  paths: readonly string[],
  { near, owners }: { near: readonly string[]; owners: ReadonlySet<string> },
): Promise<string[]> {
  const mentioning = await Promise.all([...owners].map((owner) => index.mentioning(owner, near)));
  const first = new Set(mentioning.flatMap((files) => files.map(({ path }) => path)));
  return [...paths.filter((path) => first.has(path)), ...paths.filter((path) => !first.has(path))];
}
