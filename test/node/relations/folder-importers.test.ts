import { expect, it } from "vitest";
import { importersOf } from "../../../src/interface/questions/relations/importers.ts";
import { indexOf } from "./support.ts";

const FILES = {
  "go.mod": "module example.com/app\n",
  "tools/auth/auth.go": "package auth\n\nfunc New() {}\n",
  "tools/auth/inner/inner.go": 'package inner\n\nimport "example.com/app/tools/auth"\n',
  "main.go": 'package main\n\nimport (\n\t"example.com/app/tools/auth"\n\t"example.com/app/tools/authz"\n)\n',
  "packages/core/package.json": '{"name": "@app/core", "main": "src/index.ts"}',
  "packages/core/src/index.ts": 'export { a } from "./a.ts";\n',
  "packages/core/src/a.ts": "export const a = 1;\n",
  "packages/core2/src/a.ts": "export const a = 2;\n",
  "packages/ui/src/b.ts": 'import { a } from "../../core/src/a.ts";\nimport { a as b } from "../../core2/src/a.ts";\n',
  "py/utils/text.py": "def cut(): pass\n",
  "py/app.py": "from .utils import text\nfrom .utils.text import cut\nimport os\n",
  "java/org/app/util/Texts.java": "package org.app.util;\n\npublic class Texts {}\n",
  "java/org/app/Main.java": "package org.app;\n\nimport org.app.util.Texts;\nimport java.util.List;\n",
  "lib/table/table.h": "void table(void);\n",
  "lib/main.c": '#include "table/table.h"\n#include <stdio.h>\n',
};

it.each([
  ["tools/auth", ["main.go:4 certain"]],
  ["./tools/auth/", ["main.go:4 certain"]],
  ["packages/core", ["packages/ui/src/b.ts:1 certain"]],
  ["py/utils", ["py/app.py:1 certain", "py/app.py:2 certain"]],
  ["java/org/app/util", ["java/org/app/Main.java:3 certain"]],
  ["lib/table", ["lib/main.c:1 certain"]],
  ["tool", []],
])("importers of the folder %s are those outside of it", async (folder, importers) => {
  const found = await importersOf(await indexOf(FILES), folder);
  expect(found.map(({ path, line, certainty }) => `${path}:${line} ${certainty}`)).toEqual(importers);
});
