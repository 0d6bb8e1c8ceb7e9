import { expect, it } from "vitest";
import { callsIn, indexOf } from "./support.ts";

it("follows dependencies under the names that manifests of a workspace give them", async () => {
  const user =
    "use base::{start, Engine};\nfn run(e: &Engine) {\n  start();\n  e.turn();\n  other::begin();\n  far::start();\n}\n";
  const files = {
    "Cargo.toml":
      '[workspace]\nmembers = ["*"]\n[workspace.dependencies]\nbase = { path = "core", package = "my-core" }\n',
    "core/Cargo.toml": '[package]\nname = "my-core"\n',
    "core/src/lib.rs": "mod deep;\npub use deep::Engine;\npub fn start() {}\n",
    "core/src/deep.rs": "pub struct Engine;\nimpl Engine { pub fn turn(&self) {} }\n",
    "facade/Cargo.toml": '[package]\nname = "facade"\n[dependencies]\nmy-core.path = "../core"\n',
    "facade/src/lib.rs": "pub use my_core::start as begin;\n",
    "app/Cargo.toml":
      '[package]\nname = "app"\n[dependencies]\nbase.workspace = true\n[dependencies.other]\npackage = "facade"\n[dependencies.far]\npackage = "unknown"\n',
    "app/src/lib.rs": user,
    // The name holds below the manifest that gives it.
    "beside/Cargo.toml": '[package]\nname = "beside"\n',
    "beside/src/lib.rs": user,
  };
  const index = await indexOf(files);
  const callsOf = async (path: string) => {
    const calls = ((await index.uses(path))?.uses ?? []).filter(({ kind }) => kind === "call");
    return Promise.all(calls.map(async (use) => [use.name, await index.resolve(path, use)]));
  };
  expect(await callsOf("app/src/lib.rs")).toEqual([
    ["start", { path: "core/src/lib.rs", line: 3 }],
    ["turn", { path: "core/src/deep.rs", line: 2 }],
    ["begin", { path: "core/src/lib.rs", line: 3 }],
    ["start", "outside"],
  ]);
  expect((await callsOf("beside/src/lib.rs")).slice(1)).toEqual([
    ["turn", { path: "core/src/deep.rs", line: 2 }],
    ["begin", "outside"],
    ["start", "outside"],
  ]);
});

it("takes a type parameter for the trait among its bounds that is not of the standard library", async () => {
  const text = [
    "trait Run { fn go(&self); }",
    "trait Stop { fn go(&self); }",
    "fn one<T: Run + Send + 'static>(t: T) { t.go(); }", // 3
    "fn two<T>(t: T) where T: Clone + Run { t.go(); }",
    "fn three(t: impl Run + Sync, u: Box<dyn Run + Send>) { t.go(); u.go(); }", // 5
    "fn four<T: Run + Stop>(t: T) { t.go(); }",
    "fn five<T: Clone + Send>(t: T) { t.go(); }", // 7
  ].join("\n");
  expect(await callsIn({ "src/lib.rs": text }, "src/lib.rs")).toEqual([
    "go@3 → src/lib.rs:1",
    "go@4 → src/lib.rs:1",
    "go@5 → src/lib.rs:1",
    "go@5 → src/lib.rs:1",
    "go@6 → unknown",
    "go@7 → unknown",
  ]);
});
