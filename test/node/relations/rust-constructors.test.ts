import { expect, it } from "vitest";
import { UsesFinder } from "../../../src/interface/questions/relations/callers.ts";
import { indexOf } from "./support.ts";

it("callers of a struct or enum of Rust are literals and calls of functions and variants that make one", async () => {
  const files = await indexOf({
    "src/lib.rs": [
      "pub struct Foo { a: u32 }", // 1
      "pub enum Kind {",
      "    One(u32),",
      "    Two { x: u32 },", // 4
      "}",
      "impl Foo {",
      "    pub fn new(a: u32) -> Self { Foo { a } }", // 7
      "    pub fn open() -> Result<Foo, Error> { todo!() }",
      "    pub fn with(mut self, a: u32) -> Self { self }",
      "    pub fn count() -> u32 { 0 }", // 10
      "}",
      "struct Other;",
      "impl Other { fn new() -> Other { Other } }", // 13
      "fn run(any: &dyn Any) {",
      "    Foo::new(1).with(2);", // 15
      "    Foo::open();",
      "    Foo::count();",
      "    Other::new();", // 18
      "    any.new();",
      "    Kind::One(1);",
      "    Kind::Two { x: 1 };", // 21
      "}",
    ].join("\n"),
  });
  const callersOf = async (name: string) => {
    const found = await new UsesFinder(files, "callers").find(await files.definitions(name), 1);
    return found.map(({ line, certainty, target }) => `${line} ${certainty} ${target?.qualifiedName}`);
  };
  expect(await callersOf("Foo")).toEqual(["7 certain Foo", "15 certain Foo::new", "16 certain Foo::open"]);
  expect(await callersOf("Kind")).toEqual(["20 certain Kind::One", "21 certain Kind::Two"]);
});
