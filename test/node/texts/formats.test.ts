import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { SearchFormatError, type RangeReader } from "../../../src/engines/search/types.ts";
import { findWithheld } from "../../../src/engines/parsing/secrets/find-withheld.ts";
import { blankLines, countLines, type LineRange, linesOf } from "../../../src/engines/parsing/secrets/lines.ts";
import { encodeFileList, FileList, type ListedFile } from "../../../src/engines/texts/file-list.ts";
import { PackBuilder, TextPack } from "../../../src/engines/texts/pack.ts";

const reader = (bytes: Uint8Array): RangeReader => ({
  name: "object",
  size: bytes.byteLength,
  read: (offset, length) => {
    if (offset + length > bytes.byteLength) throw new SearchFormatError("truncated", "object");
    return bytes.subarray(offset, offset + length);
  },
});
const bytesOf = (text: string) => new TextEncoder().encode(text);
const hash = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");

/** Fails unless every change of one bit, and every cut, is noticed. */
async function expectChecked(file: Uint8Array, readAll: (bytes: Uint8Array) => Promise<unknown>): Promise<void> {
  for (let at = 0; at < file.byteLength; at += Math.max(1, Math.floor(file.byteLength / 100))) {
    const flipped = file.slice();
    flipped[at]! ^= 1 << (at % 8);
    await expect(readAll(flipped), `byte ${at}`).rejects.toThrow(SearchFormatError);
    await expect(readAll(file.subarray(0, at)), `cut at ${at}`).rejects.toThrow(SearchFormatError);
  }
}

describe("withheld lines", () => {
  const secret = ["AKIA", "2E0A8F3B244C9986"].join("");

  test("the lines of a secret are empty, all others stay as they are", () => {
    const text = `a\r\n \nkey = "${secret}"\n\nlast`;
    const ranges = findWithheld(bytesOf(text));
    expect(ranges).toEqual([[3, 3]]);
    expect(new TextDecoder().decode(blankLines(bytesOf(text), ranges))).toBe("a\r\n \n\n\nlast");
    expect(countLines(ranges)).toBe(1);
  });

  test("a last line without a line end", () => {
    const ranges: LineRange[] = [[2, 2]];
    expect(new TextDecoder().decode(blankLines(bytesOf("a\nb"), ranges))).toBe("a\n");
  });

  test("ranges that overlap, touch, or end with a line end", () => {
    const text = "one\ntwo\nthree\nfour\nfive\nsix\n";
    const range = (from: string, to: string) => ({
      start: text.indexOf(from),
      end: text.indexOf(to) + to.length,
      rule: "",
    });
    expect(linesOf(text, [range("one", "one\n")])).toEqual([[1, 1]]);
    expect(linesOf(text, [range("one", "three"), range("two", "two"), range("five", "five")])).toEqual([
      [1, 3],
      [5, 5],
    ]);
    expect(linesOf(text, [range("one", "one"), range("two", "two")])).toEqual([[1, 2]]);
    expect(linesOf(text, [])).toEqual([]);
  });

  test("secrets without number take time in proportion to the text", () => {
    const text = `key = "${secret}"\n`.repeat(20_000);
    expect(countLines(findWithheld(bytesOf(text)))).toBe(20_000);
  });
});

describe("packs", () => {
  const texts = [
    { text: "", withheld: [] },
    { text: "a\nb\n", withheld: [] },
    { text: "x".repeat(70_000), withheld: [] },
    {
      text: "\n\ny\n",
      withheld: [
        [1, 2],
        [9, 9],
      ] as LineRange[],
    },
    { text: "z\r\n".repeat(30_000), withheld: [] },
    { text: "last", withheld: [] },
    { text: "one more", withheld: [] },
  ].map(({ text, withheld }, i) => ({
    sha256: hash(bytesOf(`${i}`)),
    bytes: bytesOf(text),
    lineCount: i,
    withheld,
  }));
  const build = () => {
    const builder = new PackBuilder();
    for (const [ordinal, text] of texts.entries()) expect(builder.add(text)).toBe(ordinal);
    return builder.finish();
  };
  const readAll = async (bytes: Uint8Array) => {
    const pack = await TextPack.open(reader(bytes));
    return Promise.all(pack.entries.map((_entry, ordinal) => pack.read(ordinal)));
  };

  test("texts come back as they were put in, and equal texts make equal packs", async () => {
    const read = await readAll(build());
    expect(read.map((text) => Object.assign(text, { bytes: new Uint8Array(text.bytes) }))).toEqual(texts);
    expect(build()).toEqual(build());
  });

  test("small neighbours share a block, and a large file has one of its own", async () => {
    const pack = await TextPack.open(reader(build()));
    expect(pack.entries.map(({ block }) => block)).toEqual([0, 0, 1, 2, 3, 4, 4]);
    await expect(pack.read(7)).rejects.toThrow(RangeError);
  });

  test("damage is noticed", () => expectChecked(build(), readAll));
});

describe("file lists", () => {
  const files: ListedFile[] = [
    ["src/b.ts", "indexed", null, "typescript", 12, 0, { pack: "1-a", ordinal: 4 }],
    ["src/a.ts", "indexed", null, "typescript", 0, 3, { pack: "1-b", ordinal: 0 }],
    ["src/é\u{10ffff}", "searched", "unknown_type", null, 5_000_000_000, 0, { pack: "1-a", ordinal: 3 }],
    ["src/\uffff", "not_searched", "binary", null, null, 0, null],
    ["", "not_searched", "symlink", null, null, 0, null],
  ].map(([path, state, reason, language, size, withheldLines, text]) => ({
    path,
    state,
    reason,
    language,
    size,
    withheldLines,
    text,
  })) as ListedFile[];
  const readAll = async (bytes: Uint8Array) => [...(await FileList.open(reader(bytes)))];

  test("files come back in the order of their paths, whatever order they were in", async () => {
    const read = await readAll(encodeFileList(files));
    expect(read).toEqual([4, 1, 0, 2, 3].map((at) => files[at]));
    expect(encodeFileList(files.toReversed())).toEqual(encodeFileList(files));
    expect(await readAll(encodeFileList([]))).toEqual([]);
  });

  test("a path is found by its name", async () => {
    const list = await FileList.open(reader(encodeFileList(files)));
    for (const file of files) expect(list.at(list.find(file.path))).toEqual(file);
    for (const path of ["src", "src/a", "src/a.tsx", "z"]) expect(list.find(path)).toBe(-1);
  });

  test("damage is noticed", () => expectChecked(encodeFileList(files), readAll));
});
