import { expect, it } from "vitest";
import { callersOf } from "./support.ts";

const CASES: readonly [
  language: string,
  name: string,
  file: string,
  text: string,
  base: string[],
  override: string[],
][] = [
  [
    "TypeScript",
    "run",
    "a.ts",
    `interface Marked {}
class Base {
  run() { this.run(); }
}
class Sub extends Base implements Marked {
  run() {
    super.run();
    this.run();
  }
}
`,
    ["3 certain", "7 certain"],
    ["3 likely", "8 certain"],
  ],
  [
    "Python",
    "run",
    "a.py",
    `class Base:
    def run(self):
        self.run()


class Sub(Base):
    def run(self):
        super().run()
        super(Sub, self).run()
        self.run()
`,
    ["3 certain", "8 certain", "9 certain"],
    ["10 certain", "3 likely"],
  ],
  [
    "Java",
    "run",
    "A.java",
    `interface Marked {}
class Base {
  void run() { this.run(); }
  void run(int a, int b) {}
}
class Sub extends Base implements Marked {
  void run() {
    super.run();
    this.run();
  }
}
`,
    ["3 certain", "8 certain"],
    ["3 likely", "9 certain"],
  ],
  [
    "C#",
    "Run",
    "A.cs",
    `interface IMarked {}
class Base {
  public virtual void Run() { this.Run(); }
}
class Sub : Base, IMarked {
  public override void Run() {
    base.Run();
    this.Run();
  }
}
`,
    ["3 certain", "7 certain"],
    ["3 likely", "8 certain"],
  ],
  [
    "PHP",
    "run",
    "a.php",
    `<?php
class Base {
  function run() { $this->run(); }
}
class Sub extends Base {
  function run() {
    parent::run();
    $this->run();
  }
}
`,
    ["3 certain", "7 certain"],
    ["3 likely", "8 certain"],
  ],
  [
    "Kotlin",
    "run",
    "A.kt",
    `interface Marked
open class Base {
  open fun run() { this.run() }
}
class Sub : Marked, Base() {
  override fun run() {
    super.run()
    this.run()
  }
}
`,
    ["3 likely", "7 likely", "8 name"],
    ["3 likely", "8 likely"],
  ],
];

it.each(CASES)(
  "what %s calls by super is the base's own and no override's",
  async (...[, name, file, text, base, override]) => {
    const lines = async (type: string) =>
      (await callersOf({ [file]: text }, file.endsWith(".php") ? `${type}::${name}` : `${type}.${name}`)).map((each) =>
        each.slice(file.length + 1),
      );
    expect([await lines("Base"), await lines("Sub")]).toEqual([base, override]);
  },
);

it("follows super to a base of another file, and overloads of one", async () => {
  const files = {
    "p/Base.java": `package p;
public class Base {
  public void run(int a) {}
  public void run(String a) {}
  public void stop() {}
}
`,
    "q/Sub.java": `package q;
import p.Base;
class Sub extends Base implements Runnable {
  public void run(int a) { super.run(1); super.stop(); }
  public void run(String a) { super.run("a"); }
  public void stop() { super.stop(); }
}
`,
  };
  expect(await callersOf(files, "Sub.run")).toEqual([]);
  expect(await callersOf(files, "Sub.stop")).toEqual([]);
  expect(await callersOf(files, "Base.run")).toEqual(["q/Sub.java:4 certain", "q/Sub.java:5 certain"]);
  expect(await callersOf(files, "Base.stop")).toEqual(["q/Sub.java:4 certain", "q/Sub.java:6 certain"]);
});
