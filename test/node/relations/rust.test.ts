import { describe, expect, it } from "vitest";
import { indexOf, callsIn } from "./support.ts";

describe("Rust", () => {
  it("follows modules of files, folders and of the file, aliases, lists and re-exports", async () => {
    const files = {
      "src/lib.rs": "mod a;\npub mod b;\npub use crate::b::inner::deep;\nmod util {\n    pub fn help() {}\n}\n",
      "src/a.rs": [
        "use crate::b::{self, one as uno, inner::*};",
        "use super::util::help;",
        "fn run() {",
        "    uno();",
        "    b::two();",
        "    deep();",
        "    help();",
        "    crate::deep();",
        "    crate::util::help();",
        "    self::own();",
        "    std::mem::drop(1);",
        "}",
        "fn own() {}",
      ].join("\n"),
      "src/b/mod.rs":
        "pub mod inner;\npub fn one() {}\npub fn two() {\n    inner::deep();\n    super::util::help();\n}\n",
      "src/b/inner.rs": "pub fn deep() {}\n",
    };
    expect(await callsIn(files, "src/a.rs")).toEqual([
      "uno@4 → src/b/mod.rs:2",
      "two@5 → src/b/mod.rs:3",
      "deep@6 → src/b/inner.rs:1",
      "help@7 → src/lib.rs:5",
      "deep@8 → src/b/inner.rs:1",
      "help@9 → src/lib.rs:5",
      "own@10 → src/a.rs:13",
      "drop@11 → none",
    ]);
    expect(await callsIn(files, "src/b/mod.rs")).toEqual(["deep@4 → src/b/inner.rs:1", "help@5 → src/lib.rs:5"]);
  });

  it("follows packages of the workspace by the names of their folders", async () => {
    const files = {
      "crates/my-core/src/lib.rs":
        "pub struct Core;\nimpl Core {\n    pub fn new() -> Self { Core }\n    pub fn go(&self) {}\n}\n",
      "crates/app/src/main.rs":
        "use my_core::Core;\nfn main() {\n    let core = Core::new();\n    core.go();\n    serde::go();\n}\n",
    };
    expect(await callsIn(files, "crates/app/src/main.rs")).toEqual([
      "new@3 → crates/my-core/src/lib.rs:3",
      "go@4 → crates/my-core/src/lib.rs:4",
      "go@5 → outside",
    ]);
  });

  it("follows packages by the names of their manifests, from programs, tests and other packages", async () => {
    const core =
      "pub struct Core;\nimpl Core {\n    pub fn new() -> Self { Core }\n    pub fn go(&self) {}\n}\npub fn help() {}\n";
    const user = [
      "use my_tool::core::Core;",
      "use grep_searcher::Searcher;",
      "fn main() {",
      "    Core::new().go();",
      "    my_tool::core::help();",
      "    Searcher::find();",
      "    twice::lost();",
      "}",
    ].join("\n");
    const files = {
      "Cargo.toml": '[package]\nname = "my-tool"\n\n[[bin]]\nname = "run"\n\n[workspace]\nmembers = ["crates/*"]\n',
      "src/lib.rs": "pub mod core;\n",
      "src/core.rs": core,
      "src/bin/run.rs": user,
      "tests/it.rs": user,
      "tests/files/Cargo.toml": '[package]\nname = "my-tool"\n',
      "crates/searcher/Cargo.toml": '[package]\nname = "searcher-package"\n[lib]\nname = "grep_searcher"\n',
      "crates/searcher/src/lib.rs": "mod find;\npub use find::Searcher;\n",
      "crates/searcher/src/find.rs": "pub struct Searcher;\nimpl Searcher {\n    pub fn find() {}\n}\n",
      "crates/user/src/main.rs": user,
      "a/Cargo.toml": '[package]\nname = "twice"\n',
      "a/src/lib.rs": "pub fn lost() {}\n",
      "b/Cargo.toml": '[package]\nname = "twice"\n',
      "b/src/lib.rs": "pub fn lost() {}\n",
    };
    const index = await indexOf(files);
    for (const path of ["src/bin/run.rs", "tests/it.rs", "crates/user/src/main.rs"]) {
      const uses = (await index.uses(path))?.uses ?? [];
      const calls = uses.filter(({ kind }) => kind === "call");
      const found = await Promise.all(calls.map(async (use) => [use.name, await index.resolve(path, use)]));
      expect([path, Object.fromEntries(found)]).toEqual([
        path,
        {
          new: { path: "src/core.rs", line: 3 },
          go: { path: "src/core.rs", line: 4 },
          help: { path: "src/core.rs", line: 6 },
          find: { path: "crates/searcher/src/find.rs", line: 3 },
          lost: "outside",
        },
      ]);
    }
  });

  it("follows self, fields, results, references, optional values and pointers", async () => {
    const text = [
      "struct A { b: B, c: Option<B>, d: Arc<B> }", // 1
      "struct B;",
      "impl B {",
      "    fn make() -> Result<Self, Error> { Ok(B) }",
      "    fn go(&self) {}",
      "    fn clone(&self) {}",
      "    fn map(&self) {}", // 7
      "}",
      "impl A {",
      "    fn run(&mut self, other: &mut B) -> Option<&B> {",
      "        self.b.go();", // 11
      "        self.c.as_ref().unwrap().go();",
      "        self.c.map(1);",
      "        self.d.go();",
      "        self.d.clone();", // 15
      "        other.go();",
      "        let made = B::make()?;",
      "        made.go();",
      "        B::make().map(made);", // 19
      "        if let Some(c) = &self.c { c.go(); }",
      "        Self::help();",
      "        self.run(other).unwrap().go();",
      "        None",
      "    }",
      "    fn help() {}", // 25
      "}",
    ].join("\n");
    const calls = await callsIn({ "src/lib.rs": text }, "src/lib.rs");
    expect(calls.filter((call) => !/^(?:Ok|as_ref|unwrap|make)@/.test(call))).toEqual([
      "go@11 → src/lib.rs:5",
      "go@12 → src/lib.rs:5",
      "map@13 → unknown",
      "go@14 → src/lib.rs:5",
      "clone@15 → unknown",
      "go@16 → src/lib.rs:5",
      "go@18 → src/lib.rs:5",
      "map@19 → unknown",
      "go@20 → src/lib.rs:5",
      "help@21 → src/lib.rs:25",
      "go@22 → src/lib.rs:5",
      "run@22 → src/lib.rs:10",
    ]);
  });

  it("follows traits: bounds, provided methods, implementations of a type in other files", async () => {
    const files = {
      "src/lib.rs": [
        "mod other;",
        "pub struct Own;",
        "pub trait Run: Base {",
        "    fn run(&self) { self.stop(); self.base(); }",
        "    fn stop(&self);",
        "}",
        "pub trait Base { fn base(&self) {} }",
        "impl std::fmt::Display for Own {}",
        "impl Run for Own { fn stop(&self) {} }",
        "fn one<T: Run>(t: &T, u: impl Run, v: &dyn Run, own: Own) {",
        "    t.run();",
        "    u.run();",
        "    v.stop();",
        "    own.run();",
        "    own.apart();",
        "}",
        "fn two<T>(t: T) where T: Run { t.run(); }",
        "fn several<T: Run + Clone>(t: T) { t.run(); }",
      ].join("\n"),
      "src/other.rs": "use crate::Own;\nimpl Own {\n    pub fn apart(&self) {}\n}\n",
    };
    expect(await callsIn(files, "src/lib.rs")).toEqual(
      [
        "stop@4 → src/lib.rs:5",
        "base@4 → src/lib.rs:7",
        "Base@3 → src/lib.rs:7",
        "Display@8 → none",
        "Run@9 → src/lib.rs:3",
        "run@11 → src/lib.rs:4",
        "run@12 → src/lib.rs:4",
        "stop@13 → src/lib.rs:5",
        "run@14 → src/lib.rs:4",
        "apart@15 → src/other.rs:3",
        "run@17 → src/lib.rs:4",
        "run@18 → src/lib.rs:4",
      ].toSorted((a, b) => Number(/@(\d+)/.exec(a)?.[1]) - Number(/@(\d+)/.exec(b)?.[1])),
    );
  });

  it("abstains where a name is defined several times or hidden by a variable", async () => {
    const text = [
      "#[cfg(unix)]",
      "fn twice() {}",
      "#[cfg(windows)]",
      "fn twice() {}",
      "fn once() {}",
      "struct S;",
      "impl From<u8> for S { fn from(_: u8) -> S { S } }",
      "impl From<u16> for S { fn from(_: u16) -> S { S } }",
      "fn run(once: fn()) {",
      "    twice();",
      "    once();",
      "    S::from(1);",
      "    for once in [1] { once(); }",
      "    let Some(twice) = x else { return };",
      "    twice();",
      "}",
    ].join("\n");
    expect((await callsIn({ "src/lib.rs": text }, "src/lib.rs")).filter((call) => !call.startsWith("From@"))).toEqual([
      "twice@10 → unknown",
      "once@11 → none",
      "from@12 → unknown",
      "once@13 → none",
      "twice@15 → unknown",
    ]);
  });

  it("keeps modules of a file apart, with super and self", async () => {
    const text = [
      "fn top() {}", // 1
      "mod one {",
      "    pub fn f() { super::top(); self::g(); super::two::f(); }",
      "    fn g() {}",
      "    pub mod deep {",
      "        use super::super::top;",
      "        pub fn f() { top(); super::g(); }",
      "    }",
      "}",
      "mod two {",
      "    use super::one::{deep, f as first};",
      "    pub fn f() { first(); deep::f(); }", // 12
      "}",
      "#[cfg(test)]",
      "mod tests {",
      "    use super::*;",
      "    #[test]",
      "    fn works() { top(); one::f(); }",
      "}",
    ].join("\n");
    expect(await callsIn({ "src/lib.rs": text }, "src/lib.rs")).toEqual([
      "top@3 → src/lib.rs:1",
      "g@3 → src/lib.rs:4",
      "f@3 → src/lib.rs:12",
      "top@7 → src/lib.rs:1",
      "g@7 → src/lib.rs:4",
      "first@12 → src/lib.rs:3",
      "f@12 → unknown",
      "top@18 → src/lib.rs:1",
      "f@18 → src/lib.rs:3",
    ]);
  });

  it("ends in modules, aliases and traits that lead to themselves", async () => {
    const files = {
      "src/lib.rs": "pub use crate::a::x;\nmod a;\ntrait A: B {}\ntrait B: A {}\nfn f<T: A>(t: T) { t.m(); x(); }\n",
      "src/a.rs": "pub use crate::x;\npub use self::*;\npub use super::*;\n",
    };
    expect((await callsIn(files, "src/lib.rs")).filter((call) => /^[mx]@/.test(call))).toEqual([
      "m@5 → unknown",
      "x@5 → unknown",
    ]);
    const deep = `fn f() { ${"{ let a = f();".repeat(3_000)}${"}".repeat(3_000)} }\nuse a::${"{b::".repeat(500)}c${"}".repeat(500)};\n`;
    expect((await callsIn({ "src/lib.rs": deep }, "src/lib.rs")).length).toBeLessThan(3_000);
  });

  it("finds calls in what macros are given, and is less sure where the macro may bind names", async () => {
    const lib = [
      "pub mod conn;", // 1
      "pub fn parse(x: &str) -> i32 { 1 }",
      "struct S { c: conn::Connection }",
      "impl S {",
      "    fn name(&self) -> i32 { 1 }",
      "    async fn run(&mut self) {",
      "        tokio::select! {", // 7
      "            res = self.c.read_frame() => res?,",
      '            x = self.name() => parse("{}"),',
      "        };",
      '        println!("{} {}", self.name(), parse("1"));',
      '        assert!(self.c.read_frame().unwrap().check(), "{}", vec![parse("2")].len());',
      "        dbg!(self.c.read_frame().map(|f| self.name()));",
      '        assert_eq!(conn::make::<Vec<u8>>(1), crate::parse("a"));',
      "    }",
      "}",
      "mod tests {",
      "    use super::*;", // 18
      '    fn works() { assert_eq!(parse("1"), 1); custom!(parse("2")); }',
      "}",
    ].join("\n");
    const conn = [
      "pub struct Connection {}", // 1
      "pub struct Frame {}",
      "impl Frame { pub fn check(&self) -> bool { true } }",
      "impl Connection { pub fn read_frame(&mut self) -> Option<Frame> { None } }",
      "pub fn make<T>(x: i32) -> Option<i32> { None }",
    ].join("\n");
    expect(await callsIn({ "src/lib.rs": lib, "src/conn.rs": conn }, "src/lib.rs")).toEqual([
      "select!@7 → outside",
      "read_frame@8 → src/conn.rs:4 likely",
      "name@9 → src/lib.rs:5 likely",
      "parse@9 → src/lib.rs:2 likely",
      "name@11 → src/lib.rs:5",
      "parse@11 → src/lib.rs:2",
      "read_frame@12 → src/conn.rs:4",
      "unwrap@12 → unknown",
      "check@12 → src/conn.rs:3",
      "parse@12 → src/lib.rs:2",
      "len@12 → unknown",
      "read_frame@13 → src/conn.rs:4",
      "map@13 → unknown",
      "name@13 → src/lib.rs:5 likely",
      "make@14 → src/conn.rs:5",
      "parse@14 → src/lib.rs:2",
      "parse@19 → src/lib.rs:2",
      "custom!@19 → unknown",
      "parse@19 → src/lib.rs:2 likely",
    ]);
    const deep = `fn f() { vec![${"[g(".repeat(3_000)}${")]".repeat(3_000)}]; }\n`;
    expect((await callsIn({ "src/lib.rs": deep }, "src/lib.rs")).length).toBeLessThan(3_000);
  });
});
