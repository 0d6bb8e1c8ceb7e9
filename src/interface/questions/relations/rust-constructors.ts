/** A type of Rust is made by its own functions that return it, such as `Foo::new`, and an enum by its variants: there are no constructors. */
import type { DefinedSymbol, QuestionFiles } from "../../../engines/relations/question-files.ts";
import type { Meaning } from "../../../engines/relations/types.ts";
import { lastPart, nameParts } from "../../../engines/search/names.ts";
import { isWrapping } from "../../../engines/relations/wrapped.ts";

/** Functions and variants of a type that are looked at. */
const MAX_MEMBERS = 500;

/** What constructs types of Rust, besides literals: functions of their files without `self` that return them, also in `Result` or `Box`, and variants. */
export async function rustConstructors(
  files: QuestionFiles,
  definitions: readonly DefinedSymbol[],
): Promise<DefinedSymbol[]> {
  const found: DefinedSymbol[] = [];
  for (const type of definitions) {
    if (!type.path.endsWith(".rs") || !/^(?:struct|enum)$/.test(type.kind)) continue;
    const uses = await files.uses(type.path);
    const members = uses?.classes.find(({ line }) => line === type.startLine)?.members;
    const lines = new Set([...(members?.values() ?? [])].map(({ line }) => line));
    const own = (await files.definitionsIn(type.path)).filter(
      ({ startLine, qualifiedName }) =>
        lines.has(startLine) && startLine !== type.startLine && nameParts(qualifiedName).at(-2) === lastPart(type.name),
    );
    const variants = own.filter(({ startLine }) => type.startLine < startLine && startLine <= type.endLine);
    if (type.kind === "enum") found.push(...variants);
    const returning = own.filter(({ startLine }) => isOf(uses?.returns.get(startLine), type.startLine));
    const described = await files.described(returning.slice(0, MAX_MEMBERS));
    found.push(...returning.filter((_, i) => !TAKES_SELF.test(described[i]?.signature ?? "")));
  }
  return found.slice(0, MAX_MEMBERS);
}

const TAKES_SELF = /\(\s*(?:&\s*(?:'\w+\s+)?)?(?:mut\s+)?self\b/;

/** Whether a returned type is the one on a line, or a wrapping of it. */
function isOf(returned: Meaning | undefined, line: number): boolean {
  let of = returned;
  while (of?.to === "member" && isWrapping(of.name)) of = of.of;
  return of?.to === "local" && of.line === line;
}
