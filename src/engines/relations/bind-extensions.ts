/** How readers of Kotlin and C# bind extensions. */
import type { Binding, Expression, Scope } from "./expressions.ts";
import { EXTENDED } from "./extensions.ts";

/** Extensions of one name in a scope that are told apart. */
const MAX_EXTENSIONS = 20;

/** Binds an extension of a type, under keys that have its name and number of arguments. */
export function bindExtensions(keys: readonly string[], line: number, type: Expression, scope: Scope): void {
  const extended: Expression = { is: "member", of: type, name: EXTENDED };
  for (const key of keys) bindExtension(key, { is: "variable", line, type: extended }, scope);
}

/** Extensions of several types may have one name: each is bound under a number, and the name to all of them. */
function bindExtension(key: string, binding: Binding, scope: Scope): void {
  const known = scope.names.get(key);
  if (!known) {
    scope.names.set(key, binding);
    return;
  }
  let last = 1;
  while (scope.names.has(numbered(key, last + 1))) last++;
  if (last >= MAX_EXTENSIONS) {
    scope.names.set(key, { is: "several" });
    return;
  }
  if (last === 1) scope.names.set(numbered(key, 1), known);
  const named = (number: number): Expression => ({ is: "name", name: numbered(key, number), scope });
  const others = known.is === "alias" ? known.of : named(1);
  scope.names.set(numbered(key, last + 1), binding);
  scope.names.set(key, { is: "alias", of: { is: "first", of: others, otherwise: named(last + 1) } });
}

/** Key of one of several extensions. No identifier has a space. */
const numbered = (key: string, number: number): string => `${key} ${number}`;
