import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { MAX_PATCH_FILES, parsePatch, PatchError, type PatchedFile } from "../../../src/engines/impact/patch.ts";

const GIT = `diff --git a/src/a.ts b/src/a.ts
index 1111111..2222222 100644
--- a/src/a.ts
+++ b/src/a.ts
@@ -1,3 +1,4 @@ export
 one
-two
+TWO
+three
 four
@@ -10 +11 @@
-ten
\\ No newline at end of file
+TEN
\\ No newline at end of file
diff --git a/old name.py b/new name.py
similarity index 100%
rename from old name.py
rename to new name.py
diff --git a/logo.png b/logo.png
new file mode 100644
index 0000000..3333333
Binary files /dev/null and b/logo.png differ
diff --git a/gone.go b/gone.go
deleted file mode 100644
--- a/gone.go
+++ /dev/null
@@ -1 +0,0 @@
-package gone
`;

describe("a unified diff", () => {
  it("names files, renames, new and deleted ones, and counts lines on both sides", () => {
    const files = parsePatch(GIT);
    expect(files.map(({ oldPath, newPath }) => [oldPath, newPath])).toEqual([
      ["src/a.ts", "src/a.ts"],
      ["old name.py", "new name.py"],
      [undefined, "logo.png"],
      ["gone.go", undefined],
    ]);
    expect(files[0]?.hunks.map(({ oldStart, newStart }) => [oldStart, newStart])).toEqual([
      [1, 1],
      [10, 11],
    ]);
    expect(files[0]?.hunks[0]?.lines.map(({ kind, text, oldLine, newLine }) => [kind, text, oldLine, newLine])).toEqual(
      [
        ["same", "one", 1, 1],
        ["removed", "two", 2, 2],
        ["added", "TWO", 3, 2],
        ["added", "three", 3, 3],
        ["same", "four", 3, 4],
      ],
    );
  });

  it("may have no lines around what changes", () => {
    const [file] = parsePatch("--- a/x\n+++ b/x\n@@ -3,1 +2,0 @@\n-gone\n@@ -7,0 +6,1 @@\n+new\n");
    const places = file?.hunks.map(({ lines }) => lines.map(({ oldLine, newLine }) => [oldLine, newLine]));
    expect(places).toEqual([[[3, 3]], [[8, 6]]]);
  });

  it("may come from diff -u, with dates, carriage returns and text around it", () => {
    const text =
      "Subject: x\n\n--- a.c\t2024-01-01\r\n+++ a.c\t2024-01-02\r\n@@ -1,2 +1,2 @@\r\n-a\r\n+b\r\n\r\n-- \n2.39\n";
    const files = parsePatch(text);
    expect(files).toMatchObject([{ oldPath: "a.c", newPath: "a.c" }]);
    expect(files[0]?.hunks[0]?.lines.map(({ kind }) => kind)).toEqual(["removed", "added", "same"]);
  });

  it("may quote paths", () => {
    const pathIn = (quoted: string): string | undefined =>
      parsePatch(`--- "a/${quoted}"\n+++ "b/${quoted}"\n@@ -1 +1 @@\n-a\n+b\n`)[0]?.newPath;
    expect(pathIn(String.raw`f\303\244 \\ \".txt`)).toBe('fä \\ ".txt');
    expect(pathIn(String.raw`fä\".txt`)).toBe('fä".txt');
    // A name that is not plain text stays as the index has it.
    expect(pathIn(String.raw`f\303\244\t.txt`)).toBe(String.raw`"f\303\244\t.txt"`);
    expect(pathIn(String.raw`\377.txt`)).toBe(String.raw`"\377.txt"`);
    // Not as git quotes: the name itself, quotes included.
    expect(pathIn(String.raw`\q.txt`)).toBe(String.raw`"\"b/\\q.txt\""`);
  });

  it.each([
    ["", "no unified diff"],
    ["just text\n", "no unified diff"],
    ["@@ -1 +1 @@\n-a\n+b\n", "belongs to no file"],
    ["--- a/x\n+++ b/x\n@@ -1,x +1 @@\n", "a hunk begins with"],
    ["--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n a\n", "ends inside of a hunk"],
    ["--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n a\n*b\n", "line 5: a line of a hunk begins with"],
    ["--- a/x\n+++ b/x\n@@ -1,2 +1,1 @@\n a\n b\n", "more lines than its head says"],
    ["diff --git a/x b/x\nnew file mode 100644\n".repeat(MAX_PATCH_FILES + 1), "more than 300 files"],
  ])("is refused with what is wrong: %j", (text, problem) => {
    expect(() => parsePatch(text)).toThrow(PatchError);
    expect(() => parsePatch(text)).toThrow(problem);
  });

  it("is read as it was written, whatever the lines are", () => {
    const line = fc.stringMatching(/^[^\n\r]{0,20}$/);
    const part = fc.record({ kind: fc.constantFrom("same", "removed", "added" as const), text: line });
    const path = fc.stringMatching(/^[a-z][a-z /."\\ä-]{0,12}[a-z]$/);
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.tuple(path, fc.array(part, { minLength: 1 })), { selector: ([own]) => own, minLength: 1 }),
        (given) => {
          const read = parsePatch(given.map(([own, lines]) => written(own, lines)).join(""));
          expect(
            read.map(({ newPath, hunks }) => [
              newPath,
              (hunks[0] as PatchedFile["hunks"][0]).lines.map(({ kind, text }) => ({ kind, text })),
            ]),
          ).toEqual(given);
        },
      ),
    );
  });

  it("never throws anything but a PatchError, whatever is sent", () => {
    const piece = fc.constantFrom(
      "--- a/x\n",
      "+++ b/x\n",
      "@@ -1 +1 @@\n",
      "@@ -0,0 +1,9 @@\n",
      "-a\n",
      "+b\n",
      " c\n",
      "\\ x\n",
      "diff --git a/x b/y\n",
      '"',
      "\r\n",
    );
    fc.assert(
      fc.property(fc.array(fc.oneof(piece, fc.string()), { maxLength: 40 }), (pieces) => {
        try {
          parsePatch(pieces.join(""));
        } catch (error) {
          expect(error).toBeInstanceOf(PatchError);
        }
      }),
    );
  });

  it.each([
    ["one line of a megabyte", `--- a/x\n+++ b/x\n@@ -1 +1 @@\n-${"a".repeat(1e6)}\n+b\n`],
    ["hundreds of thousands of lines", `--- a/x\n+++ b/x\n@@ -0,0 +1,300000 @@\n${"+a\n".repeat(300_000)}`],
    ["a long quoted path", `--- a/x\n+++ "b/${"\\303".repeat(200_000)}"\n@@ -1 +1 @@\n-a\n+b\n`],
    ["many heads without hunks", "--- a/x\n".repeat(100_000) + "+++ b/x\n@@ -1 +1 @@\n-a\n+b\n"],
    ["a head of digits", `--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n@@ -${"9".repeat(9)} +${"1".repeat(9)} @@\n-a\n+b\n`],
  ])("is read in linear time: %s", (_, text) => {
    expect(parsePatch(text)).toHaveLength(1);
  });
});

/** A patch of one file, with one hunk. */
function written(path: string, lines: readonly { kind: string; text: string }[]): string {
  const marks: Record<string, string> = { same: " ", removed: "-", added: "+" };
  const count = (without: string) => lines.filter(({ kind }) => kind !== without).length;
  const quoted = (prefix: string) => `"${prefix}/${path.replace(/["\\]/g, String.raw`\$&`)}"`;
  const head = `--- ${quoted("a")}\n+++ ${quoted("b")}\n@@ -1,${count("added")} +1,${count("removed")} @@\n`;
  return head + lines.map(({ kind, text }) => `${marks[kind]}${text}\n`).join("");
}
