import { expect, it, vi } from "vitest";
import { usesOfRemoved } from "../../../src/interface/questions/impact/removed-uses.ts";
import { indexOf } from "../relations/support.ts";

it("follows equal uses of a file once, and says when there are too many names", async () => {
  const files = await indexOf({
    "src/a.ts": "export const a = 1;\n",
    "src/b.ts": `import { gone } from "./a.ts";\n\n${"gone(); ".repeat(500)}\n${"gone();\n".repeat(500)}`,
  });
  const resolve = vi.spyOn(files, "resolve");
  const { uses, truncated } = await usesOfRemoved(files, [{ path: "src/a.ts", name: "gone" }]);
  expect(uses).toHaveLength(501);
  expect(uses[0]).toEqual({ path: "src/b.ts", line: 3, certainty: "certain", distance: 1, name: "gone" });
  expect(truncated).toBe(false);
  expect(resolve.mock.calls.length).toBeLessThan(5);
  const many = Array.from({ length: 41 }, (_, i) => ({ path: "src/a.ts", name: `gone${i}` }));
  expect(await usesOfRemoved(files, many)).toEqual({ uses: [], truncated: true });
});

it("finds what is gone of packages of Go, Java and PHP, by folders, types and their bases", async () => {
  const files = await indexOf({
    "go.mod": "module example.com/app\n",
    "core/app.go": "package core\n\ntype App struct{}\n",
    "core/backup.go": "package core\n",
    "main.go":
      'package main\n\nimport "example.com/app/core"\n\nfunc main() {\n\tvar app core.App\n\tapp.Backup()\n\tcore.Restore()\n}\n',
    "core/app_test.go": "package core\n\nfunc check() {\n\tRestore()\n}\n",
    "org/app/Texts.java": "package org.app;\n\npublic class Texts {}\n",
    "org/app/More.java": "package org.app;\n\npublic class More extends Texts {}\n",
    "src/Log.php": "<?php\nnamespace App;\nclass Log {}\n",
    "src/use.php": "<?php\nnamespace App;\nfunction run() {\n  $log = new Log();\n  $log->push();\n}\n",
    "org/app/Main.java":
      "package org.app;\n\nclass Main {\n  void run() {\n    Texts.cut();\n    More.cut();\n    other().cut();\n  }\n}\n",
  });
  const usesOf = async (path: string, name: string) =>
    (await usesOfRemoved(files, [{ path, name }])).uses.map((use) => `${use.path}:${use.line} ${use.certainty}`);
  expect(await usesOf("core/backup.go", "Backup")).toEqual(["main.go:7 likely"]);
  expect((await usesOf("core/backup.go", "Restore")).sort()).toEqual(["core/app_test.go:4 likely", "main.go:8 likely"]);
  expect(await usesOf("src/Log.php", "push")).toEqual(["src/use.php:5 certain"]);
  expect(await usesOf("org/app/Texts.java", "cut")).toEqual([
    "org/app/Main.java:5 certain",
    "org/app/Main.java:6 likely",
    "org/app/Main.java:7 name",
  ]);
});
