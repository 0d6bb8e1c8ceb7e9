import { existsSync, mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, expect, it } from "vitest";
import { recordsFile } from "../../../src/cli/exact/records-file.ts";

const directory = mkdtempSync(path.join(tmpdir(), "codectx-records-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

it("writing records removes what processes left that ended while writing", () => {
  const texts = path.join(directory, "texts");
  const [left, underWay] = ["left", "under-way"].map((name) => path.join(texts, `${name}.records.tmp`)) as [
    string,
    string,
  ];
  mkdirSync(texts);
  for (const file of [left, underWay]) writeFileSync(file, "records");
  const yesterday = new Date(Date.now() - 86_400_000);
  utimesSync(left, yesterday, yesterday);
  const file = recordsFile({ directory, identity: "local/test" }, "tree");
  file.write(Buffer.from("all"));
  expect(Buffer.from(file.read() ?? []).toString()).toBe("all");
  expect([left, underWay].map((own) => existsSync(own))).toEqual([false, true]);
});
