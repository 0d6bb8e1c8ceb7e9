import { OperatorError } from "../errors.ts";

/** `## Unreleased` or `## 1.2.3 — unreleased`: what the next version brings. */
const UNRELEASED = /^## (?:(\d\S*) — )?unreleased[ \t]*$/im;

/**
 * Gives the unreleased section its version and date (`YYYY-MM-DD`). Returns the new text and the section's body. Throws
 * `OperatorError` if there is no such section, or if it is empty or names another version.
 */
export function releaseChangelog(text: string, version: string, date: string): { text: string; notes: string } {
  const heading = UNRELEASED.exec(text);
  if (!heading)
    throw new OperatorError('CHANGELOG.md has no section "## Unreleased": write down what this version brings');
  const named = heading[1];
  if (named !== undefined && named !== version) {
    throw new OperatorError(`CHANGELOG.md prepares ${named}, not ${version}: change its heading or release ${named}`);
  }
  const start = heading.index + heading[0].length;
  const notes = sectionFrom(text, start);
  if (notes === "") throw new OperatorError("the unreleased section of CHANGELOG.md is empty");
  return { text: `${text.slice(0, heading.index)}## ${version} — ${date}${text.slice(start)}`, notes };
}

/** What the changelog says of a released version. Throws `OperatorError` if it has no section for it. */
export function releaseNotes(text: string, version: string): string {
  const heading = `\n## ${version} — `;
  const start = text.indexOf(heading);
  if (start === -1) throw new OperatorError(`CHANGELOG.md has no section for ${version}`);
  return sectionFrom(text, text.indexOf("\n", start + heading.length));
}

/** Text from a position up to the next section. */
function sectionFrom(text: string, start: number): string {
  const next = text.indexOf("\n## ", start);
  return text.slice(start, next === -1 ? undefined : next).trim();
}
