import { expect, it } from "vitest";
import { callersOf } from "./support.ts";

const FILES = {
  "Cargo.toml": '[package]\nname = "krate"\n',
  "src/lib.rs": `#[macro_use]
mod macros;
mod m;
macro_rules! own {
    ($a:expr) => {
        $a
    };
}
fn shout(a: u8) {}
pub fn run() {
    own!(1);
    shout!("x");
    crate::loud!(2);
    let x = assert_eq!(own!(2), vec_of![1]);
    println!("{}", own!(3));
    shout(1);
    log::loud!(1);
}
`,
  "src/m.rs": `use log::info;
pub fn go() {
    loud!(3);
    info!("x");
    std::println!("");
    println!("");
}
`,
  "src/macros.rs": `#[macro_export]
macro_rules! loud {
    ($a:expr) => {{
        $crate::shout!($a);
        println!("{}", vec_of![$a]);
    }};
}
macro_rules! shout {
    ($a:expr) => { println!("{}", $a) }
}
macro_rules! vec_of {
    ($a:expr) => { $a }
}
macro_rules! info {
    ($a:expr) => { $a }
}
macro_rules! println {
    ($a:expr) => { std::println!($a) }
}
`,
  "other/src/lib.rs": "macro_rules! own { () => {} }\nfn f() {\n    own!();\n}\n",
};

it("finds what uses a macro of Rust, by its file and else by its crate", async () => {
  expect(await callersOf({ "src/lib.rs": FILES["src/lib.rs"] }, "own")).toEqual([
    "src/lib.rs:11 certain",
    "src/lib.rs:14 certain",
    "src/lib.rs:15 certain",
  ]);
  expect(await callersOf(FILES, "loud")).toEqual(["src/lib.rs:13 likely", "src/lib.rs:17 name", "src/m.rs:3 likely"]);
  expect(await callersOf(FILES, "vec_of")).toEqual(["src/lib.rs:14 likely", "src/macros.rs:5 certain"]);
});

it("tells a macro from a function of its name, and from those of other packages and of the language", async () => {
  // The function and the macro are asked for together.
  expect(await callersOf(FILES, "shout")).toEqual([
    "src/lib.rs:12 likely",
    "src/lib.rs:16 certain",
    "src/macros.rs:4 certain",
  ]);
  expect(await callersOf(FILES, "info")).toEqual(["src/m.rs:4 name"]);
  expect(await callersOf(FILES, "println")).toEqual(["src/macros.rs:5 certain", "src/macros.rs:9 certain"]);
});
