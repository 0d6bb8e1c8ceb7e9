import { expect, it } from "vitest";
import { indexOf } from "./support.ts";

it("finds the names that a package or module gives all of, also within a module of the file", async () => {
  const files = {
    "Cargo.toml": '[package]\nname = "acme-lib"\n',
    "src/lib.rs": "pub mod scanner;\npub use scanner::Scanner;\npub fn top() {}\n",
    "src/scanner.rs":
      "pub struct Scanner {}\nimpl Scanner {\n  pub fn new() -> Self { Self {} }\n  pub fn scan(&mut self) {}\n}\n",
    "src/near.rs": "pub fn near() {}\n",
    "src/deep.rs": [
      "use crate::*;",
      "mod near;",
      "struct Holder { s: Scanner }",
      "impl Holder {",
      "  fn go(&mut self) { self.s.scan(); }", // 5
      "}",
      "mod tests {",
      "  use super::*;",
      "  use super::super::near::*;",
      "  fn t(s: &mut Scanner, h: Holder) {",
      "    s.scan();", // 11
      "    h.go();",
      "    near();",
      "    Vec::new();",
      "    other();", // 15
      "  }",
      "}",
    ].join("\n"),
    "tests/all.rs":
      "mod all {\n  use acme_lib::*;\n  fn f() {\n    let mut s = Scanner::new();\n    s.scan();\n    top();\n  }\n}\n",
  };
  const index = await indexOf(files);
  const resolved = async (path: string) => {
    const uses = (await index.uses(path))?.uses ?? [];
    const found = await Promise.all(uses.map(async (use) => [use, await index.resolve(path, use)] as const));
    return found.map(
      ([{ name, line }, to]) => `${name}@${line} ${typeof to === "string" ? to : `${to.path}:${to.line}`}`,
    );
  };
  expect(await resolved("tests/all.rs")).toEqual([
    "new@4 src/scanner.rs:3",
    "scan@5 src/scanner.rs:4",
    "top@6 src/lib.rs:3",
  ]);
  expect(await resolved("src/deep.rs")).toEqual([
    "scan@5 src/scanner.rs:4",
    "scan@11 src/scanner.rs:4",
    "go@12 src/deep.rs:5",
    "near@13 src/near.rs:1",
    "new@14 outside",
    "other@15 unknown",
  ]);
});
