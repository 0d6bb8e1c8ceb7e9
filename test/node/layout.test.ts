import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";

const SRC = path.resolve(import.meta.dirname, "../../src");
const SPECIFIER = /(?:from|import) ?\(?"(\.{1,2}\/[^"]+)"/g;

/** Which rooms (folders of `root`) each room imports, with one of the files that do, from the files' texts. */
function importsOf(files: Iterable<readonly [file: string, text: string]>): Map<string, Map<string, string>> {
  const roomOf = (file: string) => file.split("/")[0] ?? "";
  const imports = new Map<string, Map<string, string>>();
  for (const [file, text] of files) {
    const own = imports.get(roomOf(file)) ?? new Map<string, string>();
    imports.set(roomOf(file), own);
    for (const [, specifier = ""] of text.matchAll(SPECIFIER)) {
      const target = path.posix.join(path.posix.dirname(file), specifier);
      if (!target.startsWith("..") && roomOf(target) !== roomOf(file)) own.set(roomOf(target), file);
    }
  }
  return imports;
}

/** A circle of rooms, each imported by a file of the one before; empty if there is none. */
function findCircle(imports: Map<string, Map<string, string>>): string[] {
  const done = new Set<string>();
  const visit = (room: string, way: string[]): string[] => {
    if (way.includes(room)) return [...way.slice(way.indexOf(room)), room];
    if (done.has(room)) return [];
    for (const [next, file] of imports.get(room) ?? []) {
      const circle = visit(next, [...way, room]);
      if (circle.length > 0) return circle.map((name) => (name === next ? `${name} (from ${file})` : name));
    }
    done.add(room);
    return [];
  };
  for (const room of imports.keys()) {
    const circle = visit(room, []);
    if (circle.length > 0) return circle;
  }
  return [];
}

function readRooms(root: string): [string, string][] {
  const folder = path.join(SRC, root);
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" });
  return names.flatMap((name): [string, string][] =>
    /\.tsx?$/.test(name) ? [[name.replaceAll(path.sep, "/"), readFileSync(path.join(folder, name), "utf8")]] : [],
  );
}

describe("the rooms of a layer", () => {
  it.each(["service", "engines", "interface"])("of %s do not import each other in a circle", (layer) => {
    const files = readRooms(layer);
    expect(files.length).toBeGreaterThan(10);
    expect(findCircle(importsOf(files))).toEqual([]);
  });

  it("are seen to do so, types and late imports included", () => {
    const file = (text: string) =>
      [
        ["a/x.ts", text],
        ["b/y.ts", 'import type { X } from "../a/x.ts";'],
      ] as const;
    expect(findCircle(importsOf(file('export const y = () => import("../b/y.ts");')))).not.toEqual([]);
    expect(findCircle(importsOf(file('export { y } from "../b/y.ts";')))).not.toEqual([]);
    expect(findCircle(importsOf(file('import { z } from "./z.ts";')))).toEqual([]);
  });
});

describe("docs/architecture.md", () => {
  it("names files and folders that exist", () => {
    const root = path.dirname(SRC);
    const page = readFileSync(path.join(root, "docs/architecture.md"), "utf8");
    const named = [...page.matchAll(/`(src\/[\w./-]+)`/g)].map(([, file = ""]) => file);
    expect(named.length).toBeGreaterThan(40);
    expect(named.filter((file) => !existsSync(path.join(root, file)))).toEqual([]);
  });
});
