import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, it } from "vitest";
import { commitTexts } from "../../../src/cli/exact/commit-texts.ts";
import { TextCache } from "../../../src/cli/exact/text-cache.ts";
import { workTreeTexts } from "../../../src/cli/exact/work-tree-texts.ts";
import { listWorkTreeFiles } from "../../../src/cli/git/git.ts";
import { grepUntimed, request } from "./in-memory.ts";

const SECRET = `const key = "${["AKIA", "QX7PLM2ZR5TVB9KD"].join("")}";`;
const nothing = { read: () => undefined, write: () => {} };
const cache = () => new TextCache({ ...nothing, changes: nothing });
const enclosing = (wanted: readonly { lines: readonly number[] }[]) =>
  Promise.resolve(wanted.map(({ lines }) => lines.map(() => null)));

/** With a byte order mark. */
function utf16(text: string, order: "little" | "big" = "little"): Buffer {
  const bytes = Buffer.from(`\ufeff${text}`, "utf16le");
  return order === "little" ? bytes : bytes.swap16();
}

it("UTF-16 with a byte order mark is searched as its text, in a work tree and in a commit", async () => {
  const root = mkdtempSync(path.join(tmpdir(), "codectx-utf16-"));
  try {
    const git = (...args: string[]) => execFileSync("git", args, { cwd: root }).toString().trim();
    git("init", "-q");
    writeFileSync(path.join(root, "a.rc"), utf16(`ABOUT "é😀"\r\n${SECRET}\r\nSTRINGTABLE ABOUT\r\n`));
    writeFileSync(path.join(root, "b.rc"), Buffer.concat([utf16("ABOUT \ud800 end\n", "big"), Buffer.of(0)]));
    writeFileSync(path.join(root, "c.rc"), utf16("ABOUT \0"));
    git("add", "-A");
    git("-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-qm", "first");
    const listing = await listWorkTreeFiles(root);
    for (const texts of [
      workTreeTexts({ root, listing, cache: cache(), enclosing, nowMs: Date.now() + 60_000 }),
      commitTexts({ root, gitSha: git("rev-parse", "HEAD"), cache: cache(), enclosing }),
    ]) {
      const { matches, coverage } = await grepUntimed(texts, request('ABOUT( "é.")?$|\ufffd'));
      expect(matches.map(({ path, line, text }) => [path, line, text])).toEqual([
        ["a.rc", 1, 'ABOUT "é😀"'],
        ["a.rc", 3, "STRINGTABLE ABOUT"],
        ["b.rc", 1, "ABOUT \ufffd end"],
        ["b.rc", 2, "\ufffd"],
      ]);
      expect(coverage).toMatchObject({ withheldLines: 1, notSearched: { binary: 1 } });
      const found = (await texts.files()).find(({ path }) => path === "a.rc");
      expect(found).toMatchObject({ state: "searched", withheldLines: 1 });
    }
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
});
