import { describe, expect, it } from "vitest";
import { UsesFinder } from "../../../src/interface/questions/relations/callers.ts";
import { indexOf } from "./support.ts";

describe("a name without a receiver", () => {
  const files = {
    "jobs.py": "class Jobs:\n    def set(self):\n        pass\n\n    def add(self):\n        pass\n",
    "use.py": "def use(jobs):\n    jobs.set(set())\n    jobs.add(add())\n",
    "queue.go":
      "package a\n\ntype Queue struct{}\n\nfunc (q *Queue) close() {}\n\nfunc stop(q any) {\n\tclose(nil)\n\tq.close()\n}\n",
    "Text.php":
      "<?php\nnamespace A;\nclass Text { function count() {} }\nfunction use_($t) {\n  count([]);\n  $t->count();\n}\n",
    "Area.java": "class Area {\n  int size() { return 1; }\n}\n",
    "Use.java": "class Use extends Unknown {\n  int use() { return size(); }\n}\n",
  };

  it("means no member by its name, where a language has no implicit receiver", async () => {
    const index = await indexOf(files);
    const callers = async (name: string) => {
      const uses = await new UsesFinder(index, "callers").find(await index.definitions(name), 1);
      return uses.map(({ path, line, certainty }) => `${path}:${line} ${certainty}`);
    };
    expect(await callers("set")).toEqual(["use.py:2 name"]);
    expect(await callers("add")).toEqual(["use.py:3 name"]);
    expect(await callers("close")).toEqual(["queue.go:9 name"]);
    expect(await callers("count")).toEqual(["Text.php:6 name"]);
    expect(await callers("size")).toEqual(["Use.java:2 name"]);
  });
});
