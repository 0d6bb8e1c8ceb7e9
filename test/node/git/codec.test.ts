import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { applyDelta, readDeltaHeader } from "../../../src/engines/git/pack/delta.ts";
import { diffTrees, TreeStore, walkTree } from "../../../src/engines/git/index.ts";
import { pathFromBytes, pathToBytes } from "../../../src/lib/path-text.ts";
import { hashObject, OBJ_TREE } from "../../../src/engines/git/object.ts";
import { PacketReader, pkt } from "../../../src/engines/git/wire/pkt-line.ts";
import type { BodyReader } from "../../../src/engines/git/wire/http.ts";
import { GitError } from "../../../src/engines/git/index.ts";
import { compress, decompress } from "../../../src/service/indexing/staging.ts";

const utf8 = new TextEncoder();

function bodyOf(bytes: Uint8Array, sizes: readonly number[]): BodyReader {
  let pos = 0;
  let i = 0;
  return {
    read: () => {
      if (pos >= bytes.length) return Promise.resolve(undefined);
      const end = pos + (sizes[i++ % sizes.length] ?? bytes.length);
      const part = bytes.subarray(pos, end);
      pos = end;
      return Promise.resolve(part);
    },
    cancel: () => undefined,
    cutOff: (where) => new GitError("NETWORK", where),
  };
}

const chunking = fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 1, maxLength: 10 });

describe("pkt-line", () => {
  test("reads back what it wrote, however the bytes are cut", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.string({ maxLength: 80 })), chunking, async (lines, sizes) => {
        const bytes = utf8.encode(`${lines.map(pkt).join("")}00010000`);
        const reader = new PacketReader(bodyOf(bytes, sizes));
        for (const line of lines) {
          const packet = await reader.read();
          expect(packet.kind === "data" && Buffer.from(packet.data).toString()).toBe(line);
        }
        expect((await reader.read()).kind).toBe("delim");
        expect((await reader.read()).kind).toBe("flush");
        expect((await reader.read()).kind).toBe("eof");
      }),
    );
  });

  test("splits side-bands, however the bytes are cut", async () => {
    const packet = fc.tuple(fc.integer({ min: 1, max: 3 }), fc.uint8Array({ maxLength: 60 }));
    await fc.assert(
      fc.asyncProperty(fc.array(packet), chunking, async (packets, sizes) => {
        const body = Buffer.concat([
          ...packets.map(([band, data]) =>
            Buffer.concat([Buffer.from((data.length + 5).toString(16).padStart(4, "0")), Buffer.from([band]), data]),
          ),
          Buffer.from("0000"),
        ]);
        const reader = new PacketReader(bodyOf(body, sizes));
        const got: Record<number, number[]> = {};
        while (await reader.pumpSideBand((band, data) => (got[band] ??= []).push(...data)));
        for (const band of [1, 2, 3]) {
          const sent = Buffer.concat(packets.filter(([one]) => one === band).map(([, data]) => data));
          expect(Buffer.from(got[band] ?? [])).toEqual(sent);
        }
      }),
    );
  });

  test.each(["00", "0003", "zzzz", "fff5aaaa", "001", "0010abc", "<htm"])("refuses %s", async (text) => {
    const reader = new PacketReader(bodyOf(utf8.encode(text), [100]));
    await expect(reader.read()).rejects.toBeInstanceOf(GitError);
  });
});

describe("delta", () => {
  const varint = (value: number): number[] => {
    const out: number[] = [];
    for (; value > 127; value = Math.floor(value / 128)) out.push((value & 127) | 128);
    return [...out, value];
  };
  const copy = (offset: number, length: number): number[] => {
    const parts = [0, 8, 16, 24].map((shift) => (offset >>> shift) & 255);
    const sizes = [0, 8, 16].map((shift) => (length >>> shift) & 255);
    let op = 128;
    const bytes: number[] = [];
    for (const [i, part] of [...parts, ...sizes].entries()) {
      if (part === 0) continue;
      op |= 1 << i;
      bytes.push(part);
    }
    return [op, ...bytes];
  };

  test("applies any sequence of copies and inserts, within one buffer and between two", () => {
    const op = fc.oneof(
      fc.tuple(fc.nat(), fc.integer({ min: 1, max: 5000 })),
      fc.uint8Array({ minLength: 1, maxLength: 127 }),
    );
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 9000 }), fc.array(op, { maxLength: 20 }), (base, ops) => {
        const expected: number[] = [];
        const code: number[] = [];
        for (const one of ops) {
          if (one instanceof Uint8Array) {
            code.push(one.length, ...one);
            expected.push(...one);
          } else {
            const offset = one[0] % base.length;
            const length = Math.min(one[1], base.length - offset);
            code.push(...copy(offset, length));
            expected.push(...base.subarray(offset, offset + length));
          }
        }
        const delta = Uint8Array.from([...varint(base.length), ...varint(expected.length), ...code]);
        const header = readDeltaHeader(delta, delta.length);
        expect(header).toMatchObject({ baseSize: base.length, resultSize: expected.length });
        const out = new Uint8Array(expected.length + 4);
        applyDelta(header, delta, delta.length, base, 0, out, 3);
        expect([...out.subarray(3, 3 + expected.length)]).toEqual(expected);
        const shared = new Uint8Array(base.length + expected.length);
        shared.set(base);
        applyDelta(header, delta, delta.length, shared, 0, shared, base.length);
        expect([...shared.subarray(base.length)]).toEqual(expected);
      }),
    );
  });

  test("throws on nonsense and never writes outside the result", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), fc.uint8Array({ maxLength: 60 }), (base, code) => {
        const delta = Uint8Array.from([...varint(base.length), 20, ...code]);
        const out = new Uint8Array(40).fill(7);
        try {
          applyDelta(readDeltaHeader(delta, delta.length), delta, delta.length, base, 0, out, 10);
        } catch (error) {
          expect(error).toMatchObject({ code: "CORRUPT" });
        }
        expect([...out.subarray(0, 10), ...out.subarray(30)]).toEqual(Array.from({ length: 20 }, () => 7));
      }),
      { numRuns: 2000 },
    );
    expect(() => readDeltaHeader(Uint8Array.from([255, 255]), 2)).toThrow(/delta header/);
  });
});

describe("paths", () => {
  const name = fc.uint8Array({ minLength: 1, maxLength: 30 }).filter((bytes) => !bytes.includes(0));
  test("text and bytes turn into each other, and no two paths share a text", () => {
    fc.assert(
      fc.property(name, name, (a, b) => {
        expect([...pathToBytes(pathFromBytes(a))]).toEqual([...a]);
        if (Buffer.compare(a, b) !== 0) expect(pathFromBytes(a)).not.toBe(pathFromBytes(b));
      }),
      { numRuns: 2000 },
    );
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", minLength: 1 }), (text) => {
        expect(Buffer.from(pathToBytes(pathFromBytes(utf8.encode(text)))).toString()).toBe(
          Buffer.from(text).toString(),
        );
      }),
    );
  });

  test.each([
    ["src/naïve café.ts", "src/naïve café.ts"],
    ["a\\b", "a\\b"],
    ['in"side', 'in"side'],
    ['"start', '"\\"start"'],
    ["new\nline\ttab", '"new\\nline\\ttab"'],
    ["del\u007f\u0001", '"del\\177\\001"'],
  ])("%j", (raw, text) => {
    expect(pathFromBytes(utf8.encode(raw))).toBe(text);
  });

  test("bytes that are not UTF-8 are quoted as git does", () => {
    expect(pathFromBytes(Buffer.from("dir/\xffname", "latin1"))).toBe('"dir/\\377name"');
  });
});

type Entry = readonly [mode: string, name: string | Uint8Array, oid: string];

function rawTree(entries: readonly Entry[]): Uint8Array {
  return Buffer.concat(
    entries.flatMap(([mode, name, oid]) => [
      Buffer.from(`${mode} `),
      Buffer.from(name as string),
      Buffer.from([0]),
      Buffer.from(oid, "hex"),
    ]),
  );
}

function put(store: TreeStore, entries: readonly Entry[]): string {
  const raw = rawTree(entries);
  const oid = hashObject(store.objectFormat, OBJ_TREE, raw);
  store.add(oid, raw, 0, raw.length);
  return oid;
}

const BLOB = "11".repeat(20);
const OTHER = "22".repeat(20);

describe("trees", () => {
  /** path → blob id, turned into trees. */
  const nested = (store: TreeStore, files: ReadonlyMap<string, string>): string => {
    const children = new Map<string, Map<string, string>>();
    const entries: Entry[] = [];
    for (const [path, oid] of files) {
      const slash = path.indexOf("/");
      if (slash < 0) entries.push(["100644", path, oid]);
      else {
        const dir = path.slice(0, slash);
        const into = children.get(dir) ?? new Map<string, string>();
        children.set(dir, into.set(path.slice(slash + 1), oid));
      }
    }
    for (const [dir, inside] of children) entries.push(["40000", dir, nested(store, inside)]);
    const key = (entry: Entry): Buffer => Buffer.from(`${entry[1] as string}${entry[0] === "40000" ? "/" : ""}`);
    return put(
      store,
      entries.sort((a, b) => Buffer.compare(key(a), key(b))),
    );
  };
  const component = fc.constantFrom("a", "b", "a.b", "a-b", "é", "zz");
  const path = fc.array(component, { minLength: 1, maxLength: 4 }).map((parts) => parts.join("/"));
  const fileMap = fc
    .array(fc.tuple(path, fc.constantFrom(BLOB, OTHER)), { maxLength: 25 })
    .map((pairs) => new Map(pairs))
    // A file and a directory cannot share a name.
    .map((files) => new Map([...files].filter(([one]) => ![...files.keys()].some((two) => two.startsWith(`${one}/`)))));
  const byBytes = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));

  const encoded = (store: TreeStore, root: string): Uint8Array =>
    new Uint8Array(Buffer.concat([...store.encode(root)]));

  test("walk, encode and decode keep every path", () => {
    fc.assert(
      fc.property(fileMap, (files) => {
        const store = new TreeStore("sha1");
        const root = nested(store, files);
        put(store, [["100644", "unreachable", BLOB]]);
        const expected = [...files].sort(([a], [b]) => byBytes(a, b));
        const list = (trees: TreeStore): [string, string][] => [...walkTree(trees, root)].map((e) => [e.path, e.oid]);
        expect(list(store)).toEqual(expected);
        const bytes = encoded(store, root);
        const decoded = TreeStore.decode(bytes, "sha1");
        expect(list(decoded)).toEqual(expected);
        expect(decoded.size).toBe(new Set(store.reachable(root)).size);
        expect(Buffer.compare(encoded(decoded, root), bytes)).toBe(0);
        expect(list(new TreeStore("sha1", decoded))).toEqual(expected);
      }),
    );
  });

  test("parts of large trees may be read after the next one was asked for", async () => {
    const store = new TreeStore("sha1");
    const files = Array.from({ length: 6_000 }, (_, i): [string, string] => [`d${i % 9}/file${i}.c`, BLOB]);
    const root = nested(store, new Map(files));
    expect([...store.encode(root)].length).toBeGreaterThan(2);
    const decoded = TreeStore.decode(await decompress(await compress(store.encode(root))), "sha1");
    expect([...walkTree(decoded, root)]).toHaveLength(files.length);
  });

  test("diff says exactly what changed, in path order", () => {
    fc.assert(
      fc.property(fileMap, fileMap, (before, after) => {
        const store = new TreeStore("sha1");
        const changes = [...diffTrees(store, nested(store, after), store, nested(store, before))];
        const expected = [...new Set([...before.keys(), ...after.keys()])]
          .filter((one) => before.get(one) !== after.get(one))
          .sort(byBytes)
          .map((one) => ({
            path: one,
            status: !before.has(one) ? "added" : after.has(one) ? "modified" : "deleted",
            oid: after.get(one) ?? before.get(one),
          }));
        expect(changes.map(({ path, status, oid }) => ({ path, status, oid }))).toEqual(expected);
      }),
    );
  });

  test.each<[string, readonly Entry[]]>([
    [".git", [["100644", ".git", BLOB]]],
    [".GiT as a directory", [["40000", ".GiT", BLOB]]],
    ["git~1", [["100644", "git~1", BLOB]]],
    [".git with trailing dots", [["100644", ".git . ", BLOB]]],
    [".git with an ignorable code point", [["100644", ".g\u200cit", BLOB]]],
    ["..", [["40000", "..", BLOB]]],
    [".", [["40000", ".", BLOB]]],
    ["an empty name", [["100644", "", BLOB]]],
    ["a slash", [["100644", "a/b", BLOB]]],
    ["an unknown mode", [["70644", "a", BLOB]]],
    ["no octal mode", [["10x644", "a", BLOB]]],
    [
      "a name twice",
      [
        ["100644", "a", BLOB],
        ["100644", "a", BLOB],
      ],
    ],
    [
      "wrong order",
      [
        ["100644", "b", BLOB],
        ["100644", "a", BLOB],
      ],
    ],
    ["a short id", [["100644", "a", "11".repeat(19)]]],
  ])("refuses %s", (_name, entries) => {
    const store = new TreeStore("sha1");
    const root = put(store, entries);
    expect(() => [...walkTree(store, root)]).toThrow(expect.objectContaining({ code: "CORRUPT" }));
  });

  test("allows names that only look like it", () => {
    const store = new TreeStore("sha1");
    const names = ["...", ".gitattributes", ".gitignore", ".gitmodules", "git", "git~2"];
    const root = put(
      store,
      names.map((name) => ["100664", name, BLOB] as const),
    );
    expect([...walkTree(store, root)].map((e) => [e.path, e.mode])).toEqual(names.map((name) => [name, 0o100644]));
  });

  test("encode and decode many trees, and large ones", () => {
    const store = new TreeStore("sha1");
    const folder = (name: string, files: number): Entry[] =>
      Array.from({ length: files }, (_, i) => ["100644", `${name}-${String(i).padStart(5, "0")}`, BLOB]);
    const sizes = [1, 1_000, 4_000, 2, ...Array.from({ length: 60 }, (_, i) => i * 3 + 1), 3_000];
    const root = put(
      store,
      sizes.map((files, i) => ["40000", String(i + 100), put(store, folder(String(i), files))]),
    );
    const decoded = TreeStore.decode(encoded(store, root), "sha1");
    expect(decoded.size).toBe(sizes.length + 1);
    expect([...walkTree(decoded, root)]).toEqual([...walkTree(store, root)]);
  });

  test("bounds what a tree expands to", () => {
    const store = new TreeStore("sha1");
    let oid = put(store, [["100644", "f", BLOB]]);
    for (let i = 0; i < 40; i++)
      oid = put(store, [
        ["40000", "a", oid],
        ["40000", "b", oid],
      ]);
    expect(() => [...walkTree(store, oid, { files: 1000 })]).toThrow(expect.objectContaining({ code: "LIMIT" }));
    expect(() => [...walkTree(store, oid, { treeDepth: 10 })]).toThrow(expect.objectContaining({ code: "LIMIT" }));
    expect(encoded(store, oid).length).toBeLessThan(4000);
  });

  test("decode refuses damage", () => {
    const store = new TreeStore("sha1");
    const root = put(store, [["100644", "a", BLOB]]);
    const bytes = encoded(store, root);
    for (let at = 0; at < bytes.length; at++) {
      const bad = bytes.slice();
      bad[at]! ^= 1;
      let genuine = true;
      try {
        genuine = TreeStore.decode(bad, "sha1").has(root);
      } catch (error) {
        expect(error).toBeInstanceOf(GitError);
        genuine = false;
      }
      expect(genuine).toBe(false);
    }
    expect(() => TreeStore.decode(bytes.subarray(0, bytes.length - 1), "sha1")).toThrow(GitError);
    expect(() => TreeStore.decode(bytes, "sha256")).toThrow(GitError);
  });
});
