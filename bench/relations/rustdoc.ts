/**
 * Calls as rustc resolves them: rustdoc's source pages link each name to its definition. A crate whose dependencies are not there, or
 * which does not compile, is left out.
 */
import { spawnSync } from "node:child_process";
import { existsSync, globSync, readdirSync, readFileSync, realpathSync } from "node:fs";
import path from "node:path";
import { temporaryFolder } from "../support.ts";
import type { GoldCall } from "./gold-call.ts";

const TIMEOUT_MS = 10 * 60_000;
const DOCS = "https://doc.rust-lang.org/";

interface Crate {
  folder: string;
  name: string;
  /** Arguments of `rustc` and `rustdoc`, with fewer and fewer features. */
  variants: string[][];
}

const STANDARD = ["std", "alloc"];

export function rustdocCalls(root: string): GoldCall[] | string {
  if (spawnSync("rustdoc", ["--version"]).status !== 0) return "it is not installed";
  const manifests = globSync("{,*/,crates/*/}Cargo.toml", { cwd: root });
  const crates = manifests.flatMap((manifest) => crateOf(path.join(root, path.dirname(manifest))));
  const externs = compiled(crates);
  const out = temporaryFolder("rustdoc");
  const known = crates.map((crate) => callsOfCrate(root, crate, externs, out)).filter((calls) => calls !== undefined);
  return known.length === 0 ? "no crate compiles by itself" : known.flat();
}

function crateOf(folder: string): Crate[] {
  const manifest = readFileSync(path.join(folder, "Cargo.toml"), "utf8");
  if (!existsSync(path.join(folder, "src/lib.rs"))) return [];
  const edition = /^edition = "(\d+)"/m.exec(manifest)?.[1] ?? "2021";
  const name = /^name = "([\w-]+)"/m.exec(manifest)?.[1]?.replaceAll("-", "_") ?? path.basename(folder);
  const cfg = (features: readonly string[]) => features.flatMap((each) => ["--cfg", `feature="${each}"`]);
  const args = ["--edition", edition, "--crate-name", name, "--cap-lints", "allow"];
  const features = [[...STANDARD, ...featuresOf(manifest)], STANDARD, []];
  return [{ folder, name, variants: features.map((each) => args.concat(cfg(each))) }];
}

/** Compiles the crates that need no others, then those that need only these. The arguments that name them. */
function compiled(crates: readonly Crate[]): string[] {
  const out = temporaryFolder("rustc");
  const externs = ["-L", out];
  let left = [...crates];
  for (let before = -1; before !== left.length;) {
    before = left.length;
    left = left.filter((crate) => {
      const args = ["--crate-type", "lib", "--emit", "metadata", "--out-dir", out, ...externs];
      const working = crate.variants.find((variant) => run("rustc", crate, [...variant, ...args]) === 0);
      if (!working) return true;
      crate.variants = [working];
      externs.push("--extern", `${crate.name}=${path.join(out, `lib${crate.name}.rmeta`)}`);
      return false;
    });
  }
  return externs;
}

function run(tool: string, { folder }: Crate, args: readonly string[]): number | null {
  const env = { ...process.env, RUSTC_BOOTSTRAP: "1", CARGO_PKG_VERSION: "0.0.0", CARGO_MANIFEST_DIR: folder };
  return spawnSync(tool, [...args, path.join(folder, "src/lib.rs")], {
    env,
    cwd: folder,
    timeout: TIMEOUT_MS,
    stdio: "ignore",
  }).status;
}

function callsOfCrate(root: string, crate: Crate, externs: readonly string[], out: string): GoldCall[] | undefined {
  const links = ["--document-private-items", "-Z", "unstable-options", "--generate-link-to-definition", "-o", out];
  const pages = path.join(out, "src", crate.name);
  const [args = [], ...others] = crate.variants;
  if (others.length > 0 || run("rustdoc", crate, [...args, ...externs, ...links]) !== 0 || !existsSync(pages))
    return undefined;
  const base = realpathSync(path.join(crate.folder, "src"));
  return readdirSync(pages, { recursive: true, encoding: "utf8" })
    .filter((page) => page.endsWith(".rs.html"))
    .flatMap((page) => {
      const file = path.join(base, page.slice(0, -".html".length));
      return existsSync(file) ? callsOfPage(root, file, readFileSync(path.join(pages, page), "utf8")) : [];
    });
}

/** The features of `default` that are not dependencies. */
function featuresOf(manifest: string): string[] {
  const [, list = ""] = /^default = \[([^\]]*)\]/m.exec(manifest) ?? [];
  return Array.from(list.matchAll(/"([\w-]+)"/g), ([, name = ""]) => name);
}

function callsOfPage(root: string, file: string, html: string): GoldCall[] {
  const own = path.relative(root, file);
  const calls: GoldCall[] = [];
  const [, code = ""] = /<pre class="rust"><code>([\s\S]*)<\/code><\/pre>/.exec(html) ?? [];
  let line = 0;
  for (const match of code.matchAll(/<a href=#(\d+) id=|<a (?:class="[^"]*" )?href="([^"]*)">([\s\S]*?)<\/a>/g)) {
    const [whole, number, href, label = ""] = match;
    if (number !== undefined) line = Number(number);
    if (href === undefined) continue;
    const after = text(code.slice(match.index + whole.length, match.index + whole.length + 400));
    const name = text(label).split("::").at(-1)?.trim() ?? "";
    // Patterns look like calls of variants and tuple structures.
    if (!/^(?:\(|::<)/.test(after) || !/^[\p{Ll}_]/u.test(name) || name.endsWith("!")) continue;
    // rustdoc names the method of the trait, not of the implementation.
    if (href.startsWith(DOCS))
      calls.push({ path: own, line, name, to: /\/trait\./.test(href) ? "dispatch" : "-", at: 0 });
    const [, page, start] = /^([^#]*)#(\d+)(?:-\d+)?$/.exec(href) ?? [];
    // Definitions of other crates are linked to their documentation, which names no line.
    if (page === undefined && !href.startsWith(DOCS)) calls.push({ path: own, line, name, to: "dispatch", at: 0 });
    if (page === undefined) continue;
    const to = page === "" ? file : path.join(path.dirname(file), page.replace(/\.html$/, ""));
    const target = place(to, Number(start), name);
    if (target)
      calls.push({ path: own, line, name, ...target, to: target.isAbstract ? "dispatch" : path.relative(root, to) });
  }
  return calls;
}

const text = (html: string): string =>
  html
    .replaceAll(/<[^>]*>/g, "")
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&amp;", "&");

const sources = new Map<string, string[]>();

/** The line of a definition's name, and whether it is a method of a trait. */
function place(file: string, start: number, name: string): { at: number; isAbstract: boolean } | undefined {
  let lines = sources.get(file);
  if (!lines) {
    if (!existsSync(file)) return undefined;
    lines = readFileSync(file, "utf8").split("\n");
    sources.set(file, lines);
  }
  const offset = lines.slice(start - 1, start + 4).findIndex((each) => new RegExp(`\\b${name}\\b`).test(each));
  const indent = (line: string): number => line.length - line.trimStart().length;
  const own = indent(lines[start - 1] ?? "");
  const around = lines
    .slice(0, start - 1)
    .findLast((each) => each.trim() !== "" && indent(each) < own && /^\s*[\w#]/.test(each));
  return {
    at: start + Math.max(0, offset),
    isAbstract: /^\s*(?:pub(?:\([^)]*\))? )?(?:unsafe )?trait /.test(around ?? ""),
  };
}
