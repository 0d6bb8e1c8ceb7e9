/** Components of Blazor that code names as types: `RenderComponent<Card>()`, `typeof(App)`. */
import { COMPONENT } from "../../../engines/parsing/component-names.ts";
import type { DefinedSymbol, QuestionFiles } from "../../../engines/relations/question-files.ts";
import type { FoundUse } from "./found.ts";
import { usesByName } from "./mentioning.ts";
import { occurrencesOf } from "./occurrences.ts";

/** More definitions are not looked at, as of a change that touches many. */
const MAX_DEFINITIONS = 20;
/** Text before a name that is looked at. */
const MAX_BEFORE = 200;

/** The lines that name one of some definitions as a type that is rendered, as far as these are components; they are known by name. */
export async function componentTypes(files: QuestionFiles, definitions: readonly DefinedSymbol[]): Promise<FoundUse[]> {
  const wanted: { name: string; paths: Set<string> }[] = [];
  for (const { kind, path, qualifiedName: name } of definitions.slice(0, MAX_DEFINITIONS)) {
    if (kind !== COMPONENT || files.language(path) !== "razor") continue;
    const mentioning = await files.mentioning(name, [path]);
    const naming = mentioning.filter(({ language }) => language === "csharp" || language === "razor");
    wanted.push({ name, paths: new Set(naming.map((each) => each.path)) });
  }
  const found = wanted.length === 0 ? [] : await usesByName(files, wanted, ({ text }, name) => namesType(text, name));
  return found.flat();
}

/** Whether a line has a name as the only type argument of a call, or in `typeof`. */
function namesType(text: string, name: string): boolean {
  for (const { before: all, after } of occurrencesOf(text, name)) {
    const before = all.slice(-MAX_BEFORE);
    if (/\btypeof\((?:\w+\.)*$/.test(before) && after.startsWith(")")) return true;
    // A tag has no name before it, and a list of components renders none.
    const isArgument = /\w<(?:\w+\.)*$/.test(before) && !/\bnew\s+[\w.]+<(?:\w+\.)*$/.test(before);
    if (isArgument && /^>\s*\(/.test(after)) return true;
  }
  return false;
}
