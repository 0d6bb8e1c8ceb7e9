/** Lines of files whose uses are not read, such as templates, that call a function by its name. */

import { isPartOfName, occurrencesOf } from "./occurrences.ts";

/** What stands before the name of a function in a tag of Phoenix: `<.button`, `<Layouts.app`. */
const COMPONENT_TAG = /<(?:[A-Z][\w.]*)?\.$/;
/** What stands before the name of a macro of FreeMarker, an inline partial of Handlebars, and a mixin of Pug. */
const MACRO_TAG = /<@$|\{\{#?>\s?$|^\+$/;
/** `include "chart.`, `template "`: what stands before the last part of the name of a part of Go's templates. */
const INCLUDED = /\b(?:include|template|block)\s+["`]([\w./-]{0,60})$/;
const MAX_TAG = 60;

/**
 * Whether a line has a name before a parenthesis, as the component of a tag, or in the braces of a template as a member, a filter, a tag or a
 * helper with arguments: `{{ user.name }}`, `{{ a | name }}`, `{% name a %}`, `{{name a}}`. `text` is one line, as answers show it.
 */
export function isCalled(text: string, name: string): boolean {
  for (const { before, after } of occurrencesOf(text, name)) {
    if (isPartOfName(before.at(-1))) continue;
    const near = before.slice(-MAX_TAG);
    if (after.trimStart().startsWith("(") || COMPONENT_TAG.test(near) || MACRO_TAG.test(near)) return true;
    if (isCalledInBraces(before, after)) return true;
  }
  return false;
}

/** Whether a line takes a part of a template in by its name, `{{ include "chart.name" . }}`; `owners` may stand before the name. */
export function isIncluded(text: string, name: string, owners: ReadonlySet<string>): boolean {
  return occurrencesOf(text, name).some(({ before, after }) => {
    const written = INCLUDED.exec(before.slice(-2 * MAX_TAG))?.[1];
    if (written === undefined || !/^["`]/.test(after)) return false;
    const [owner = "", last] = written.split(/[./]/).slice(-2);
    return owners.size === 0 ? written === "" : last === "" && owners.has(owner);
  });
}

/** Whether a line has a name as the component of a tag, `<Card>` or `<Docs.Card>`: in MDX, where a name before a parenthesis is prose. */
export function isTag(text: string, name: string): boolean {
  for (const { before } of occurrencesOf(text, name))
    if (/<(?:[A-Z]\w{0,60}\.)?$/.test(before.slice(-MAX_TAG))) return true;
  return false;
}

function isCalledInBraces(before: string, after: string): boolean {
  const open = Math.max(before.lastIndexOf("{{"), before.lastIndexOf("{%"));
  if (open < 0) return false;
  const within = before.slice(open + 2);
  if (within.includes("}}") || within.includes("%}") || within.split('"').length % 2 === 0) return false;
  const left = within.trimEnd();
  if (within.endsWith(".") || left.endsWith("|")) return true;
  if (!/^[-+~#/]*$/.test(left)) return false;
  return before[open + 1] === "%" || /^\s+[\w"'.(@]/.test(after);
}
