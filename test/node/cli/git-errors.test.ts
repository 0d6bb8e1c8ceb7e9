import { expect, it } from "vitest";
import { GitCommandError } from "../../../src/cli/git/command.ts";

it.each([
  ["fatal: bad revision 'x'\n", "bad revision 'x'"],
  ["hint: Support for <GIT_DIR>/info/grafts is deprecated\nfatal: unable to read 498c991\n", "unable to read 498c991"],
  [
    "warning: refname 'x' is ambiguous.\nerror: object file is empty\nfatal: loose object\n",
    "error: object file is empty",
  ],
  ["usage: git diff\n", "usage: git diff"],
  [
    "fatal: detected dubious ownership in repository at '/r'\nTo add an exception for this directory, call:\n\n\tgit config --global --add safe.directory /r\n",
    "detected dubious ownership in repository at '/r'; if you trust its files: git config --global --add safe.directory /r",
  ],
])("an error shows the line of git's messages that says what failed: %j", (stderr, told) => {
  expect(new GitCommandError("diff", stderr).message).toBe(`git diff failed: ${told}`);
});
