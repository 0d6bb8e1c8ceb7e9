import { describe, expect, it } from "vitest";
import { callsIn } from "./support.ts";

describe("names of the standard library", () => {
  it("of JavaScript mean no definition, unless the file binds them", async () => {
    const text = [
      'import fs from "fs";',
      'import { join } from "node:path";',
      'import { parse } from "elsewhere";',
      "JSON.parse(text);",
      "fs.readFile(name);",
      "join(a, b);",
      "parse(text);",
      "JSON.parse(text).run();",
      "other.parse(text);",
    ];
    expect(await callsIn({ "a.ts": text.join("\n") }, "a.ts")).toEqual([
      "parse@4 → none",
      "readFile@5 → none",
      "join@6 → none",
      "parse@7 → outside",
      "run@8 → outside",
      "parse@8 → none",
      "parse@9 → unknown",
    ]);
    const own = 'import { JSON } from "./json.ts";\nJSON.parse(text);\n';
    const files = { "a.ts": own, "json.ts": "export const JSON = {\n  parse(text) {}\n};\n" };
    expect(await callsIn(files, "a.ts")).not.toContain("parse@2 → none");
  });

  it("of Python mean no definition, unless the repository has a module of that name", async () => {
    const text = "import json\nimport os.path\nimport yaml\njson.loads(text)\nos.path.join(a)\nyaml.loads(text)\n";
    expect(await callsIn({ "a.py": text }, "a.py")).toEqual(["loads@4 → none", "join@5 → none", "loads@6 → outside"]);
    expect(await callsIn({ "a.py": text, "json.py": "def loads(text):\n  pass\n" }, "a.py")).toContain(
      "loads@4 → json.py:1",
    );
    const inPackage = { "kit/a.py": text, "kit/json.py": "def loads(text):\n  pass\n", "kit/__init__.py": "a = 1\n" };
    expect(await callsIn(inPackage, "kit/a.py")).toContain("loads@4 → none");
  });

  it("of Go and Rust mean no definition", async () => {
    const go =
      'package a\n\nimport (\n\t"encoding/json"\n\t"example.com/x"\n)\n\nfunc f() {\n\tjson.Marshal(1)\n\tx.Marshal(2)\n}\n';
    expect(await callsIn({ "a.go": go }, "a.go")).toEqual(["Marshal@9 → none", "Marshal@10 → outside"]);
    const rust = "use std::fs;\nuse other::thing;\nfn f() {\n  fs::read(p);\n  thing::read(p);\n}\n";
    expect(await callsIn({ "src/a.rs": rust }, "src/a.rs")).toEqual(["read@4 → none", "read@5 → outside"]);
  });
});
