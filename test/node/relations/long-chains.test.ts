import { expect, it } from "vitest";
import { callersOf } from "./support.ts";

const LINKS = 300;
/** Of processor time, ten times what it takes; a chain of which each link is read twice takes more than the double of it. */
const MAX_SECONDS = 4;

/** Chains of calls, of which each link could be read again for those above it. */
const CHAINS: readonly (readonly [name: string, path: string, before: string, link: string, after: string])[] = [
  ["TypeScript", "a.ts", "function run(x: any) {\n  target(x", ".map(function (a) { return a.b; })", ");\n}\n"],
  [
    "TypeScript with values",
    "a.ts",
    "function run(x: any) {\n  target(x",
    ".map((a) => a.b).then((b) => b.c)",
    ");\n}\n",
  ],
  [
    "Java",
    "A.java",
    "class A {\n  void run(A x) {\n    target(x",
    ".stream().collect(toMap(a -> a, a -> a.b()))",
    ");\n  }\n}\n",
  ],
  ["Kotlin", "a.kt", "fun run(x: List<Int>) {\n  target(x", ".map { it.b }.let { it.c }", ")\n}\n"],
  ["PHP", "a.php", "<?php\nfunction run($x) {\n  target($x", "->map(fn ($a) => $a->b())", ");\n}\n"],
  ["C#", "A.cs", "class A {\n  void Run(A x) {\n    target(x", ".Select(a => a.B())", ");\n  }\n}\n"],
  ["Rust", "a.rs", "fn run(x: Vec<A>) {\n    target(x", ".map(|a| a.b())", ");\n}\n"],
  ["Go", "a.go", "package p\n\nfunc run(x A) {\n\ttarget(x", ".Map(func(a A) A { return a })", ")\n}\n"],
];
const DEFINED: Readonly<Record<string, string>> = {
  "a.ts": "function target(x: any) {}\n",
  "A.java": "class T {\n  static void target(Object x) {}\n}\n",
  "a.kt": "fun target(x: Any) {}\n",
  "a.php": "function target($x) {}\n",
  "A.cs": "class T {\n  static void target(object x) {}\n}\n",
  "a.rs": "fn target(x: A) {}\n",
  "a.go": "func target(x A) {}\n",
};

it.each(CHAINS)("a chain of hundreds of calls is read once for each: %s", async (_, path, before, link, after) => {
  const chain = Array.from({ length: LINKS }, () => link).join("\n    ");
  const text = `${before}${chain}${after}${DEFINED[path]}`;
  const started = process.cpuUsage();
  const found = await callersOf({ [path]: text }, "target");
  expect(found).toHaveLength(1);
  expect(process.cpuUsage(started).user / 1e6).toBeLessThan(MAX_SECONDS);
});
