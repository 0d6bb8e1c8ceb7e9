import { expect, it } from "vitest";
import { callersIn } from "./support.ts";

it("functions of Rust are named in tuples, arms, constants, before a method and in attributes", async () => {
  const files = {
    "src/lib.rs": [
      "use other::far;",
      "fn a() {}\nfn b() {}\nfn c() {}\nfn d() {}\nfn e() {}\nfn g() {}\nfn h() {}\nfn feature() {}\nfn size() {}\nfn k() {}", // 2 to 11
      "const F: fn() = a;", // 12
      "fn run(app: App, size: u8) {",
      "    app.add(Update, (b, c.after(far), size));", // 14
      "    let chosen = match size { 1 => d, _ => e as fn() };",
      "    let p = &g;", // 16
      "    size.max(1);",
      "}",
      "#[derive(Args)]",
      "struct Options {", // 20
      '    #[serde(default = "h", rename = "feature")]',
      "    h: u8,",
      "    #[component(on_remove = k)]", // 23
      '    #[cfg(feature = "feature")]',
      "    k: u8,",
      "}",
      "enum E { V { #[arg(value_parser = self::g)] g: u8 } }", // 27
      '#[serde(serialize_with = "crate::b")]',
      "struct Last;",
    ].join("\n"),
    "src/other.rs": "pub fn far() {}\n",
  };
  expect(await callersIn(files, ["a", "b", "c", "d", "e", "g", "h", "k", "far", "feature", "size"])).toEqual({
    a: ["src/lib.rs:12 certain"],
    b: ["src/lib.rs:14 certain", "src/lib.rs:28 certain"],
    c: ["src/lib.rs:14 certain"],
    d: ["src/lib.rs:15 certain"],
    e: ["src/lib.rs:15 certain"],
    g: ["src/lib.rs:16 certain", "src/lib.rs:27 likely"],
    h: ["src/lib.rs:21 certain"],
    k: ["src/lib.rs:23 likely"],
    far: ["src/lib.rs:14 certain"],
    feature: [],
    size: [],
  });
});
