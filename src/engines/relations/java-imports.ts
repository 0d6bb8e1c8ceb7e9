/** Imports of Java. */
import type { SyntaxNode } from "../parsing/syntax-node.ts";
import type { Expression } from "./expressions.ts";
import type { Place } from "./java-expressions.ts";
import { isLibrary } from "./java-library.ts";

export function importDeclaration(node: SyntaxNode, place: Place): void {
  const { file } = place;
  const name = node.namedChildren.find(({ type }) => type.endsWith("identifier"));
  if (!name) return;
  const isStatic = node.children.some(({ type }) => type === "static");
  const path = name.text.replaceAll(/\s/g, "");
  const isStar = node.childOfType("asterisk") !== undefined;
  const [module, ...names] = splitPackage(path);
  if (isStar && !isStatic && names.length === 0) {
    file.star(path);
    if (isLibrary(path)) place.stars.add(path);
    file.imports(path, node.row + 1);
    return;
  }
  const [first = "", ...inner] = names;
  file.imports(module, node.row + 1, first === "" ? "*" : first);
  const member = (of: Expression, own: string): Expression => ({ is: "member", of, name: own });
  if (isStar && isStatic && first !== "" && place.staticStars.length < MAX_STARS)
    place.staticStars.push(inner.reduce(member, { is: "import", module, name: first }));
  if (first === "" || isStar) return;
  const last = inner.at(-1);
  if (isStatic && last !== undefined) {
    const of = inner.slice(0, -1).reduce(member, { is: "import", module, name: first });
    place.statics.set(last, of);
    // It may be a field or a class as well.
    if (!file.top.names.has(last)) file.bind(file.top, last, { is: "alias", of: member(of, last) });
  } else if (last === undefined) file.bind(file.top, first, { is: "import", module, name: first });
  else file.bind(file.top, last, { is: "alias", of: inner.reduce(member, { is: "import", module, name: first }) });
}

/** Classes imported as a whole that are looked through. */
const MAX_STARS = 4;

/** The package of a qualified name, and the names after it: by custom, those of packages are in lower case. */
function splitPackage(path: string): [string, ...string[]] {
  const parts = path.split(".");
  const first = parts.findIndex((part) => /^\p{Lu}/u.test(part));
  return first < 0 ? [path] : [parts.slice(0, first).join("."), ...parts.slice(first)];
}
