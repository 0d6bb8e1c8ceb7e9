import { describe, expect, it } from "vitest";
import { UsesIndex } from "../../../src/engines/relations/uses-index.ts";
import type { TextSource } from "../../../src/engines/search/types.ts";
import { UsesFinder } from "../../../src/interface/questions/relations/callers.ts";
import { indexOf, openedOf } from "./support.ts";

async function callers(files: UsesIndex, name: string): Promise<string[]> {
  const found = await new UsesFinder(files, "callers").find(await files.definitions(name), 1);
  return found.map(({ path, line, certainty }) => `${path}:${line} ${certainty}`);
}

describe("callers of a method of Go", () => {
  it("are in its package alone, if its name in Go begins with a small letter", async () => {
    const files = await indexOf({
      "a/a.go": "package a\n\ntype A struct{}\n\nfunc (A) load() {}\n\nfunc (A) Load() {}\n",
      "a/b.go": "package a\n\nfunc b(x any) {\n\tx.load()\n\tx.Load()\n}\n",
      "c/c.go": "package c\n\nfunc c(x any) {\n\tx.load()\n\tx.Load()\n}\n",
    });
    expect(await callers(files, "load")).toEqual(["a/b.go:4 name"]);
    expect(await callers(files, "Load")).toEqual(["a/b.go:5 name", "c/c.go:5 name"]);
  });

  it("compare its type with an interface of Go once, however many methods are asked for", async () => {
    const { index, texts } = await openedOf({
      "a.go": "package a\n\ntype I interface {\n\tRead()\n\tWrite()\n}\n",
      "b.go": "package a\n\ntype T struct{}\n\nfunc (T) Read() {}\n\nfunc (T) Write() {}\n",
      "c.go": "package a\n\nfunc c(i I) {\n\ti.Read()\n\ti.Write()\n}\n",
    });
    const read: string[] = [];
    const counted: TextSource = (wanted) => {
      for (const { path, symbols } of wanted) read.push(...symbols.map((ordinal) => `${path} ${ordinal}`));
      return texts(wanted);
    };
    const files = new UsesIndex(index, counted);
    const methods = (await files.definitionsIn("b.go")).filter(({ kind }) => kind === "method");
    const found = await new UsesFinder(files, "callers").find(methods, 1);
    const uses = found.map(({ line, certainty, target }) => `${line} ${certainty} → ${target?.line}`);
    expect(uses).toEqual(["4 likely → 5", "5 likely → 7"]);
    expect(read).toEqual([...new Set(read)]);
  });
});
