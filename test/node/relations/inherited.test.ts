import { expect, it } from "vitest";
import { relatedReferences } from "../../../src/interface/questions/relations/answer.ts";
import { callPaths } from "../../../src/interface/questions/relations/path.ts";
import { indexesOf } from "./support.ts";

/** What a name is taken for, and its callers. */
async function callers(files: Record<string, string>, name: string): Promise<[string[] | undefined, string[]]> {
  const request = { relation: "callers", name, limit: 50 } as const;
  const { inherited, references } = await relatedReferences(await indexesOf(files), request);
  return [inherited, references.map((each) => `${each.path}:${each.line} ${each.certainty}`)];
}

it.each<[string, Record<string, string>, string, string, string]>([
  [
    "Python",
    {
      "base.py": "class Base:\n    def get(self): pass\n\nclass Middle(Base):\n    pass\n",
      "own.py": "from base import Middle\nclass Own(Middle):\n    pass\n\ndef run(own: Own):\n    own.get()\n",
      "other.py": "class Other:\n    def get(self): pass\n",
    },
    "Own.get",
    "Base.get",
    "own.py:6 certain",
  ],
  [
    "TypeScript",
    {
      "base.ts": "export class Base {\n  get() {}\n}\nexport class Near extends Base {\n  get() {}\n}\n",
      "own.ts": 'import { Near } from "./base.ts";\nclass Own extends Near {}\nnew Own().get();\n',
    },
    "Own.get",
    "Near.get",
    "own.ts:3 certain",
  ],
  [
    "Java",
    {
      "a/Base.java": "package a;\npublic class Base {\n  public void get() {}\n}\n",
      "a/Own.java": "package a;\nclass Own extends Base {\n  void run(Own own) {\n    own.get();\n  }\n}\n",
    },
    "Own.get",
    "Base.get",
    "a/Own.java:4 certain",
  ],
  [
    "Kotlin",
    {
      "Base.kt": "package a\nopen class Base {\n  fun get() {}\n}\n",
      "Own.kt": "package a\nclass Own : Base() {\n}\nfun run(own: Own) {\n  own.get()\n}\n",
    },
    "Own.get",
    "Base.get",
    "Own.kt:5 likely",
  ],
  [
    "C#, with a base that another part of the class names",
    {
      "Base.cs": "namespace A {\n  public class Base {\n    public void Get() {}\n  }\n}\n",
      "Own.cs":
        "namespace A {\n  public partial class Own {\n    void Run(Own own) {\n      own.Get();\n    }\n  }\n}\n",
      "Part.cs": "namespace A {\n  public partial class Own : Base {\n  }\n}\n",
    },
    "Own.Get",
    "A.Base.Get",
    "Own.cs:4 certain",
  ],
  [
    "PHP",
    {
      "Base.php": "<?php\nnamespace A;\nclass Base {\n  public function get() {}\n}\n",
      "Own.php": "<?php\nnamespace A;\nclass Own extends Base {\n}\nfunction run(Own $own) {\n  $own->get();\n}\n",
    },
    "Own::get",
    "A\\Base::get",
    "Own.php:6 certain",
  ],
  [
    "Ruby",
    {
      "base.rb": "class Base\n  def get\n  end\nend\n",
      "own.rb": "class Own < Base\n  def run\n    get\n  end\nend\n",
    },
    "Own#get",
    "Base#get",
    "own.rb:3 certain",
  ],
  [
    "C++, with a method that is defined elsewhere",
    {
      "base.h": "class Base {\n public:\n  void get();\n};\nclass Own : public Base {\n};\n",
      "base.cc": '#include "base.h"\nvoid Base::get() {}\nvoid run(Own* own) {\n  own->get();\n}\n',
    },
    "Own::get",
    "Base::get",
    "base.cc:4 likely",
  ],
  [
    "Go",
    {
      "base.go": "package a\n\ntype Base struct{}\n\nfunc (b *Base) Get() {}\n",
      "own.go": "package a\n\ntype Own struct {\n\t*Base\n}\n\nfunc run(own *Own) {\n\town.Get()\n}\n",
    },
    "Own.Get",
    "Base.Get",
    "own.go:8 certain",
  ],
])("a member that a type inherits is that of its base: %s", async (_, files, asked, meant, caller) => {
  const [inherited, found] = await callers(files, asked);
  expect(inherited).toEqual([meant]);
  expect(found).toContain(caller);
});

it("is none of a type that does not inherit it, and a path leads to it", async () => {
  const files = {
    "a.py":
      "class Base:\n    def get(self): pass\n\nclass Own(Base):\n    def run(self):\n        self.get()\n\nclass Other:\n    pass\n",
  };
  await expect(callers(files, "Other.get")).rejects.toThrow("Other.get");
  const { paths } = await callPaths(await indexesOf(files), { from: "Own.run", to: "Own.get", limit: 1 });
  expect(paths.map((steps) => steps.map(({ name }) => name))).toEqual([["Own.run", "Base.get"]]);
});
