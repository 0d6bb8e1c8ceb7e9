import { countedText } from "../../../src/interface/questions/relations/counts.ts";
import { describe, expect, it } from "vitest";
import { compareSignatures, readGoSignature } from "../../../src/engines/relations/go-signature.ts";
import type { UsesIndex } from "../../../src/engines/relations/uses-index.ts";
import type { OpenIndexes } from "../../../src/interface/questions/code-index.ts";
import { relatedReferences } from "../../../src/interface/questions/relations/answer.ts";
import { UsesFinder } from "../../../src/interface/questions/relations/callers.ts";
import { ImplementationsFinder } from "../../../src/interface/questions/relations/implementations.ts";
import { indexOf } from "./support.ts";

/** Implementations of what a qualified name means, as `path:line certainty distance`, in order of place. */
async function implementations(files: UsesIndex, qualifiedName: string, depth = 1): Promise<string[]> {
  const name = qualifiedName.split(/\.|::/).at(-1) ?? "";
  const own = (await files.definitions(name)).filter((each) => each.qualifiedName === qualifiedName);
  const found = await new ImplementationsFinder(files).find(own, depth);
  return found.map(({ path, line, certainty, distance }) => `${path}:${line} ${certainty} ${distance}`).toSorted();
}

const RENDER = `package render

import "net/http"

type Render interface {
	Render(http.ResponseWriter) error
	Named
}

type Named interface {
	Name(kind, sort string) (string, error)
}
`;

describe("implementations of Go's interfaces", () => {
  it("are the types with all of its methods, their own and lent ones", async () => {
    const files = await indexOf({
      "render/render.go": RENDER,
      "render/json.go": `package render

import "net/http"

type base struct{}

func (base) Name(k string, s string) (name string, err error) { return "", nil }

type JSON struct {
	base
}

func (r *JSON) Render(w http.ResponseWriter) error { return nil }

type Pretty struct {
	*JSON
}

type Other struct{}

func (Other) Render(text string) error { return nil }
func (Other) Name(kind, sort string) (string, error) { return "", nil }

type Half struct{}

func (Half) Render(w http.ResponseWriter) error { return nil }
`,
      "app/own.go": `package app

import web "net/http"

type Own struct{}

func (Own) Render(w web.ResponseWriter) error { return nil }
func (Own) Name(kind, sort string) (string, error) { return "", nil }
`,
    });
    const found = ["app/own.go:5 likely 1", "render/json.go:15 certain 1", "render/json.go:9 certain 1"];
    expect(await implementations(files, "Render")).toEqual(found);
    // Both embedded by `Render`, and had by more types.
    expect(await implementations(files, "Named")).toEqual([
      "app/own.go:5 certain 1",
      "render/json.go:15 certain 1",
      "render/json.go:19 certain 1",
      "render/json.go:5 certain 1",
      "render/json.go:9 certain 1",
      "render/render.go:7 certain 1",
    ]);
    expect(await implementations(files, "Render.Render")).toEqual([
      "app/own.go:7 likely 1",
      "render/json.go:13 certain 1",
    ]);
  });

  it("are at most likely where methods are not known: of an interface of another module", async () => {
    const files = await indexOf({
      "a.go": `package a

import "io"

type ReadNamer interface {
	io.Reader
	Name() string
}

type File struct{}

func (File) Name() string { return "" }

type Empty interface{}
`,
    });
    expect(await implementations(files, "ReadNamer")).toEqual(["a.go:10 likely 1"]);
    expect(await implementations(files, "Empty")).toEqual([]);
  });

  it("tell equal names of types of two packages apart", async () => {
    const files = await indexOf({
      "a/a.go": "package a\n\ntype Options struct{}\n\ntype Opener interface {\n\tOpen(o Options)\n}\n",
      "b/b.go": 'package b\n\nimport "x.org/m/a"\n\ntype B struct{}\n\nfunc (B) Open(o a.Options) {}\n',
      "c/c.go": "package c\n\ntype Options struct{}\n\ntype C struct{}\n\nfunc (C) Open(o Options) {}\n",
    });
    expect(await implementations(files, "Opener")).toEqual(["b/b.go:5 certain 1", "c/c.go:5 likely 1"]);
  });

  it("make calls through an interface likely callers of the methods behind it", async () => {
    const files = await indexOf({
      "a.go": `package a

type Closer interface {
	Close(force bool) error
}

type File struct{}

func (File) Close(force bool) error { return nil }

type Door struct{}

func (Door) Close() {}

func all(list []Closer) {
	for _, each := range list {
		each.Close(true)
	}
}
`,
    });
    const definitions = await files.definitions("Close");
    const callersOf = async (of: string) => {
      const own = definitions.filter(({ qualifiedName }) => qualifiedName === of);
      const found = await new UsesFinder(files, "callers").find(own, 1);
      return found.map(({ line, certainty }) => `${line} ${certainty}`);
    };
    expect(await callersOf("File.Close")).toEqual(["17 likely"]);
    expect(await callersOf("Door.Close")).toEqual([]);
  });
});

describe("callers of an interface's method", () => {
  it("say how many definitions implement it, since calls of these are not among them", async () => {
    const files = await indexOf({
      "store.ts": [
        "export interface Store { save(): void }",
        "export class One implements Store {",
        "  save() {}",
        "}",
        "export class Two implements Store {",
        "  save() {}",
        "}",
        "export function use(store: Store, one: One) {",
        "  store.save();",
        "  one.save();",
        "}",
      ].join("\n"),
    });
    const answerAt = async (line?: number, limit = 50) => {
      const symbols = (await files.definitions("save")).filter((each) => line === undefined || each.startLine === line);
      const info = { name: "r", gitSha: null, indexedAtMs: 0, isWorkTree: false };
      const indexes: Partial<OpenIndexes> = {
        indexes: [info],
        symbols: () =>
          Promise.resolve({ symbols: symbols.map((each) => Object.assign({ revision: 0 }, each)) } as never),
        withUses: (_, work) => work(files, files),
      };
      const request = { relation: "callers", name: "save", limit } as const;
      return relatedReferences(indexes as OpenIndexes, request);
    };
    const callersAt = async (line?: number) => {
      const { references, implementing } = await answerAt(line);
      return [references.map((each) => each.line), implementing];
    };
    expect(await callersAt(1)).toEqual([[9], 2]);
    expect(await callersAt(3)).toEqual([[10, 9], 0]);
    expect(await callersAt()).toEqual([[9, 10], 0]);
    // Lines beyond the limit are counted too.
    const { references, total, counts } = await answerAt(3, 1);
    expect([references.length, total, counts]).toEqual([1, 2, { certain: 1, likely: 1, name: 0 }]);
    expect(countedText(counts)).toBe("1 certain, 1 likely");
  });
});

describe("implementations of members", () => {
  it("are the members that override them, at any level, those with other parameters left out", async () => {
    const files = await indexOf({
      "a/A.java": `package a;
abstract class A {
  abstract int read(int x);
}
abstract class B extends A {
  int read(int x, int y) { return 2; }
}
class C extends B {
  @Override
  int read(int x) { return 1; }
}
class D extends C {
  int read(int x) { return 3; }
}
`,
    });
    expect(await implementations(files, "A.read")).toEqual(["a/A.java:10 certain 1"]);
    expect(await implementations(files, "A.read", 2)).toEqual(["a/A.java:10 certain 1", "a/A.java:13 certain 2"]);
  });

  it("are found in blocks of Rust that name the trait, also in other files", async () => {
    const files = await indexOf({
      "src/lib.rs": "pub mod sink;\npub mod own;\n",
      "src/sink.rs": "pub trait Sink {\n    fn matched(&mut self) -> bool;\n}\n",
      "src/own.rs":
        "use crate::sink::Sink;\npub struct Own;\nimpl Own {\n    fn other(&self) {}\n}\nimpl Sink for Own {\n    fn matched(&mut self) -> bool { true }\n}\n",
    });
    expect(await implementations(files, "Sink::matched")).toEqual(["src/own.rs:7 certain 1"]);
  });

  it("leave out those of a type that is asked for itself", async () => {
    const files = await indexOf({
      "a.go": "package a\n\ntype Run interface {\n\tRun()\n}\n\ntype Own struct{}\n\nfunc (Own) Run() {}\n",
    });
    const both = (await files.definitions("Run")).filter(({ qualifiedName }) => qualifiedName !== "Own.Run");
    const found = await new ImplementationsFinder(files).find(both, 1);
    expect(found.map(({ line }) => line)).toEqual([7]);
  });
});

describe("signatures of Go", () => {
  const read = (head: string) => readGoSignature(head, "F", "p");

  it("are read without the names of parameters and results", () => {
    expect(read("func (r *T[K]) F(a, b int, c ...map[string]any) (n int, err error)")).toEqual({
      parameters: ["int", "int", "...map[string]any"],
      results: ["int", "error"],
    });
    expect(read("F(func(key string, _ *Own) bool, chan<- x.T, interface{})")).toEqual({
      parameters: ["func(string, *p.Own) bool", "chan<- x.T", "any"],
      results: [],
    });
  });

  it("are unknown where the head was cut", () => {
    expect(read(`F(${"a int, ".repeat(50)}`.slice(0, 300))).toBeUndefined();
    expect(read("F(a int")).toBeUndefined();
  });

  it("differ by types and by number, and may be alike in generic interfaces", () => {
    const compare = (one: string, two: string, isGeneric = false): string => {
      const [first, second] = [read(one), read(two)];
      if (!first || !second) throw new Error("not read");
      return compareSignatures(first, second, isGeneric);
    };
    expect(compare("F(a int) error", "F(int) (err error)")).toBe("same");
    expect(compare("F(a int) error", "F() (int, error)")).toBe("other");
    expect(compare("F(a T)", "F(a int)")).toBe("other");
    expect(compare("F(a T)", "F(a int)", true)).toBe("alike");
  });

  it("are read in linear time", () => {
    for (const text of [
      "F" + "(".repeat(290),
      "F(" + "func(".repeat(55) + ")".repeat(10),
      "F(" + "a ".repeat(140) + ")",
    ])
      expect(() => read(text)).not.toThrow();
  });
});
