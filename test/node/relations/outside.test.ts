import { describe, expect, it } from "vitest";
import { relatedReferences } from "../../../src/interface/questions/relations/answer.ts";
import { indexesOf } from "./support.ts";

/** The modules that a name of outside is taken from, and the lines of a relation. */
async function outside(
  files: Record<string, string>,
  name: string,
  { relation = "callers", depth = 1 }: { relation?: "callers" | "implementations"; depth?: number } = {},
): Promise<[string[] | undefined, string[]]> {
  const found = await relatedReferences(await indexesOf(files), { relation, name, limit: 50, depth });
  const lines = found.references.map(
    ({ path, line, certainty, distance }) => `${path}:${line} ${certainty} ${distance}`,
  );
  return [found.outside, lines.sort()];
}

describe("a name that no index defines", () => {
  it("of TypeScript is that of the package that files import it from, under any alias", async () => {
    const files = {
      "a.ts": 'import { useState } from "react";\nexport function A() {\n  useState(1);\n}\nA();\n',
      "b.ts": 'import { useState as state } from "react";\nstate(2);\n',
      "c.ts": 'import * as React from "react";\nReact.useState(3);\nconst known = { useState };\n',
      "d.ts": "export function D(x) {\n  x.useState(4);\n}\n",
      "e.md": "useState(5)\n",
    };
    const certain = ["a.ts:3 certain 1", "b.ts:2 certain 1", "c.ts:2 certain 1"];
    expect(await outside(files, "useState")).toEqual([["react"], [...certain, "d.ts:2 name 1"]]);
    expect(await outside(files, "React.useState")).toEqual([["react"], certain]);
    expect(await outside(files, "useState", { depth: 2 })).toEqual([
      ["react"],
      [...certain, "a.ts:5 certain 2", "d.ts:2 name 1"].sort(),
    ]);
  });

  it("of Python and Go is looked for in its module, of a global by name", async () => {
    const files = {
      "a.py":
        "import os, json\nfrom os import path\nos.path.join('a')\npath.join('b')\njson.dumps(1)\nisinstance(1, int)\n','.join('c')\n",
      "b.go": 'package b\nimport "fmt"\nfunc f() {\n\tfmt.Println(1)\n}\nfunc g(p P) {\n\tp.Println(2)\n}\n',
    };
    expect(await outside(files, "os.path.join")).toEqual([["os"], ["a.py:3 certain 1", "a.py:4 certain 1"]]);
    expect(await outside(files, "json.dumps")).toEqual([["json"], ["a.py:5 certain 1"]]);
    expect(await outside(files, "isinstance")).toEqual([[], ["a.py:6 name 1"]]);
    expect(await outside(files, "fmt.Println")).toEqual([["fmt"], ["b.go:4 certain 1"]]);
    expect(await outside(files, "Println")).toEqual([["fmt"], ["b.go:4 certain 1", "b.go:7 name 1"]]);
  });

  it("without uses is said to be a package if files import one of that name", async () => {
    const files = {
      "a.py": "import click\nfrom werkzeug.routing import Map\nclick.echo(1)\n",
      "b.ts": 'import FormData from "form-data";\nexport const known = FormData;\n',
    };
    expect(await outside(files, "click")).toEqual([["click"], []]);
    expect(await outside(files, "werkzeug.routing")).toEqual([["werkzeug.routing"], []]);
    expect(await outside(files, "form-data", { relation: "implementations" })).toEqual([["form-data"], []]);
    await expect(outside(files, "nowhere.routing")).rejects.toMatchObject({ field: "name" });
  });

  it("has classes that inherit from it", async () => {
    const files = {
      "A.java": "import java.util.Comparator;\nclass A implements Comparator<String> {\n  int n() { return 1; }\n}\n",
      "B.java": "class B extends A {}\n",
    };
    const found = await outside(files, "Comparator", { relation: "implementations", depth: 2 });
    expect(found).toEqual([["java.util"], ["A.java:2 certain 1", "B.java:1 certain 2"]]);
  });

  it("is told by the text of lines where it stands behind another name and nothing imports that", async () => {
    const files = {
      "a.ts": "log.write(1);\nother.write(2);\nmylog.write(3);\nlog.writes(4);\n",
      "b.lua": "log.write(5)\nlog:write(6)\n",
    };
    const [, lines] = await outside(files, "log.write");
    expect(lines).toEqual(["a.ts:1 name 1", "b.lua:1 name 1", "b.lua:2 name 1"]);
  });

  it("is certain only where a file imports it by name", async () => {
    const files = {
      "a/A.java": "package a;\nimport b.*;\nclass A extends Missing {\n  @Override void f() { of(1); }\n}\n",
      "c.c": "#include <pthread.h>\nvoid f(void) {\n  pthread_self();\n}\n",
      "r.rb": "module M\n  class E < StandardError\n  end\nend\n",
      "src/lib.rs": "use crate::prelude::*;\nstruct S;\nimpl Iterator for S {}\n",
      "D.cs": "using System;\nnamespace Shop.Api;\nclass D : IDisposable {}\n",
      "s.ts": 'import store from "store";\nstore.lookup(1);\n',
    };
    expect(await outside(files, "Override")).toEqual([[], ["a/A.java:4 name 1"]]);
    expect(await outside(files, "Missing", { relation: "implementations" })).toEqual([[], ["a/A.java:3 name 1"]]);
    expect(await outside(files, "pthread_self")).toEqual([[], ["c.c:3 name 1"]]);
    expect(await outside(files, "StandardError", { relation: "implementations" })).toEqual([[], ["r.rb:2 name 1"]]);
    expect(await outside(files, "Iterator", { relation: "implementations" })).toEqual([[], ["src/lib.rs:3 name 1"]]);
    expect(await outside(files, "IDisposable", { relation: "implementations" })).toEqual([[], ["D.cs:3 name 1"]]);
    expect(await outside(files, "lookup")).toEqual([[], ["s.ts:2 name 1"]]);
    expect(await outside(files, "store.lookup")).toEqual([["store"], ["s.ts:2 certain 1"]]);
  });

  it("has all its parts, or an alias of them, and no comment, text or import", async () => {
    const files = {
      "a.py": "import os\nimport typing as t\nos.path.join(1)\nclass P(t.Protocol):\n    pass\nt.cast(1)\n",
      "b.ts":
        '// session.refresh()\nlog("session.refresh()");\nsession?.refresh();\nsession!.refresh();\nthis.session.refresh();\n',
      "c.el": '(defun my-cancel-message ()\n  "The message is shown."\n  (message 1))\n',
    };
    expect(await outside(files, "os.path.join")).toEqual([["os"], ["a.py:3 certain 1"]]);
    await expect(outside(files, "nonexistent.path.join")).rejects.toThrow(/is named nonexistent.path.join/);
    expect(await outside(files, "t.cast")).toEqual([["typing"], ["a.py:6 certain 1"]]);
    expect(await outside(files, "t.Protocol", { relation: "implementations" })).toEqual([
      ["typing"],
      ["a.py:4 certain 1"],
    ]);
    const [, refreshed] = await outside(files, "session.refresh");
    expect(refreshed).toEqual(["b.ts:3 name 1", "b.ts:4 name 1", "b.ts:5 name 1"]);
    expect(await outside(files, "message")).toEqual([[], ["c.el:3 name 1"]]);
    expect(await outside({ "a.j2": "{% if a %}\n" }, "if")).toEqual([[], []]);
  });

  it("is asked for where definitions of another case or kind have no such uses", async () => {
    const files = {
      "a.py": "class Request:\n    def exception(self): pass\n",
      "b.py": "class Own(Exception):\n    pass\n",
      "c.ts": 'import { Request } from "web";\nnew Request();\nconst o = { error: 1 };\nclass E extends Error {}\n',
    };
    expect(await outside(files, "Exception", { relation: "implementations" })).toEqual([[], ["b.py:1 name 1"]]);
    expect(await outside(files, "Error", { relation: "implementations" })).toEqual([[], ["c.ts:4 name 1"]]);
    // Another case of what is defined goes on to be understood.
    expect((await outside({ "a.ts": "class Hono {}\nnew Hono();\n" }, "hono"))[1]).toEqual(["a.ts:2 certain 1"]);
  });

  it("has the names that may have been meant, where it is used by name only", async () => {
    const request = { relation: "callers", name: "routes", limit: 5 } as const;
    const found = await relatedReferences(
      await indexesOf({ "a.ts": "function route() {}\nroute();\nx.routes(1);\n" }),
      request,
    );
    expect([found.outside, found.similar]).toEqual([[], ["route"]]);
  });

  it("is not hidden by a test in a language that it cannot be called from", async () => {
    const files = { "a.c": "void f(void) {\n  printf(1);\n}\n", "test/b.lua": "function printf(a)\nend\nprintf(2)\n" };
    const callers = async (own: Record<string, string>) =>
      (await outside(own, "printf"))[1].map((line) => line.replace(/ 1$/, ""));
    expect(await callers(files)).toEqual(["a.c:2 name", "test/b.lua:3 likely"]);
    // What is no test is meant.
    expect(await callers({ "a.c": files["a.c"], "b.lua": files["test/b.lua"] })).toEqual(["b.lua:3 likely"]);
    // Languages that may call it are read anyway.
    expect(await callers({ "a.c": files["a.c"], "test/b.c": "void printf(int a) {}\n" })).toEqual(["a.c:2 certain"]);
  });

  it("is no other one under which a module is imported", async () => {
    // What is imported as a whole goes by any name.
    const files = { "a.ts": 'import $ from "jquery";\n// save-all\n$(1);\n' };
    expect(await outside(files, "save-all")).toEqual([[], []]);
  });

  it("is an error where nothing uses it either, and for the relations that need a definition", async () => {
    const files = { "a.ts": "export function parse() {}\nparse();\nprint(1);\n" };
    await expect(outside(files, "pars")).rejects.toThrow(/nothing in the index is named pars; similar: parse/);
    const indexes = await indexesOf(files);
    const callees = relatedReferences(indexes, { relation: "callees", name: "print", limit: 5 });
    await expect(callees).rejects.toThrow(/nothing in the index is named print/);
    const elsewhere = relatedReferences(indexes, { relation: "callers", name: "print", path: "a.ts", limit: 5 });
    await expect(elsewhere).rejects.toThrow(/nothing in the index is named print/);
  });
});
