import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { BlobTable } from "../../../src/service/indexing/blob-table.ts";

const oidOf = (n: number) => createHash("sha1").update(String(n)).digest("hex");
const shaOf = (n: number) => createHash("sha256").update(String(n)).digest("hex");

describe("the table of a run's blobs", () => {
  it("keeps hashes, reasons and languages apart, however many blobs there are", () => {
    const blobs = new BlobTable(20);
    const count = 3_000;
    for (let n = 0; n < count; n++) blobs.want(oidOf(n), "go");
    for (let n = 0; n < count; n++) {
      if (n % 3 === 0) blobs.setSha256(oidOf(n), shaOf(n));
      if (n % 3 === 1) blobs.setSkip(oidOf(n), n % 2 === 0 ? "binary" : "too_large");
    }
    expect(blobs.size).toBe(count);
    expect([...blobs.oidsInOrder()]).toEqual(Array.from({ length: count }, (_, n) => oidOf(n)));
    for (let n = 0; n < count; n++) {
      const row = blobs.find(oidOf(n));
      expect(blobs.sha256At(row)).toBe(n % 3 === 0 ? shaOf(n) : undefined);
      expect(blobs.skipAt(row)).toBe(n % 3 === 1 ? (n % 2 === 0 ? "binary" : "too_large") : undefined);
    }
  });

  it("lists each language of a blob once, and none for an unselected blob", () => {
    const blobs = new BlobTable(20);
    for (const language of ["c", "cpp", "c", "cpp", "go"] as const) blobs.want(oidOf(1), language);
    expect(blobs.languagesAt(blobs.find(oidOf(1)))).toEqual(["c", "cpp", "go"]);
    expect(blobs.languagesAt(blobs.find(oidOf(2)))).toEqual([]);
  });

  it.each([
    ["c", "cpp"],
    ["latex", "apex"],
    ["typescript", "xml"],
  ] as const)("takes a file that is named as one of %s for one of %s where its content says so", (named, found) => {
    const blobs = new BlobTable(20);
    blobs.want(oidOf(1), named);
    blobs.want(oidOf(1), "go");
    blobs.setContentLanguage(oidOf(1), found);
    const row = blobs.find(oidOf(1));
    expect(blobs.languagesAt(row)).toEqual([found, "go"]);
    expect(blobs.languageAt(row, named)).toBe(found);
    expect(blobs.languageAt(row, "go")).toBe("go");
    expect(blobs.languageAt(row, null)).toBeUndefined();
  });
});
