/** What the languages' own tools say of calls. Each tool is optional: where it is not installed, its rows are left out. */
import { execFileSync, spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { peer, ROOT, temporaryFolder } from "../support.ts";
import type { GoldCall, UsesOf } from "./gold-call.ts";
import { serverCalls } from "./language-server.ts";
import { rustdocCalls } from "./rustdoc.ts";

export interface Gold {
  name: string;
  /** Files that the tool tells about. */
  languages: RegExp;
  /** The calls of a checkout; a sentence if the tool is not there. */
  calls: (root: string, files: readonly string[], usesOf: UsesOf) => Promise<GoldCall[] | string> | GoldCall[] | string;
}

const FOLDER = path.join(ROOT, "bench/relations");

export const GOLD: readonly Gold[] = [
  {
    name: "go/types",
    languages: /\.go$/,
    calls: (root) => {
      const program = path.join(temporaryFolder("gold"), "gold");
      return tabbed(
        () => execFileSync("go", ["build", "-o", program, path.join(FOLDER, "gold.go")], { stdio: "pipe" }),
        () => output(program, [root]),
      );
    },
  },
  {
    name: "javac",
    languages: /\.java$/,
    calls: (root) => {
      const classes = temporaryFolder("gold");
      return tabbed(
        () => execFileSync("javac", ["-d", classes, path.join(FOLDER, "Gold.java")], { stdio: "pipe" }),
        () => output("java", ["-Xmx3g", "-cp", classes, "Gold", root]),
      );
    },
  },
  {
    name: "libclang",
    languages: /\.(?:c|h|cc|cpp|hpp)$/,
    calls: (root) =>
      tabbed(
        () => execFileSync("/usr/bin/python3", ["-c", "import clang.cindex"], { stdio: "pipe" }),
        () => output("/usr/bin/python3", [path.join(FOLDER, "gold.py"), root]),
      ),
  },
  {
    name: "tsc",
    languages: /(?<!\.d)\.[cm]?[jt]sx?$/,
    calls: (root, files) => {
      const library = peer("typescript-api/lib/typescript.js");
      if (library === undefined) return "typescript-api is not installed";
      const input = files.join("\n");
      return tabbed(
        () => {},
        () =>
          output(process.execPath, ["--max-old-space-size=4096", path.join(FOLDER, "gold.mjs"), library, root], input),
      );
    },
  },
  {
    name: "kotlinc",
    languages: /\.(?:kt|java)$/,
    calls: (root, files) => {
      const compiler = peer("kotlin-compiler/lib/kotlin-compiler.jar");
      if (compiler === undefined) return "kotlin-compiler is not installed";
      const classes = temporaryFolder("gold");
      const jars = ["stdlib", "reflect", "test", "test-junit"].map((name) => `kotlin-${name}.jar`);
      const library = [...jars, "kotlinx-coroutines-core-jvm.jar"].map((jar) => path.join(path.dirname(compiler), jar));
      // One platform is compiled with what is common to all.
      const own = files.filter((file) => !OTHER_PLATFORM.test(file));
      return tabbed(
        () =>
          execFileSync("javac", ["-cp", compiler, "-d", classes, path.join(FOLDER, "GoldKotlin.java")], {
            stdio: "pipe",
          }),
        () =>
          output("java", ["-Xmx3g", "-cp", `${compiler}:${classes}`, "GoldKotlin", root, ...library], own.join("\n")),
      );
    },
  },
  { name: "rustdoc", languages: /\.rs$/, calls: rustdocCalls },
  {
    name: "pyright",
    languages: /\.py$/,
    calls: (root, files, usesOf) => {
      const file = peer("pyright/langserver.index.js");
      return file === undefined
        ? "pyright is not installed"
        : serverCalls({ file, languageId: "python" }, root, files, usesOf);
    },
  },
  {
    name: "roslyn",
    languages: /\.cs$/,
    calls: (root, files) => {
      // How Gold.cs is run depends on the .NET that is there: `mono gold.exe`, or `dotnet gold.dll`; then the assemblies to compile with.
      const [command, program = "", ...assemblies] = process.env.CSHARP_GOLD?.split(" ") ?? [];
      if (command === undefined) return "CSHARP_GOLD does not say how to run Gold.cs";
      return tabbed(
        () => {},
        () => output(command, [program, root, ...assemblies], files.join("\n")),
      );
    },
  },
  {
    name: "TracePoint",
    languages: /\.(?:rb|rake)$/,
    calls: (root) => {
      const command = process.env.RUBY_GOLD;
      if (command === undefined) return "RUBY_GOLD does not say how the tests are run";
      return tabbed(
        () => execFileSync("ruby", ["-v"], { stdio: "pipe" }),
        () => traced(root, command),
      );
    },
  },
  {
    name: "intelephense",
    languages: /\.php$/,
    calls: (root, files, usesOf) => {
      const file = peer("intelephense/lib/intelephense.js");
      return file === undefined
        ? "intelephense is not installed"
        : serverCalls({ file, languageId: "php", ready: "indexingEnded" }, root, files, usesOf);
    },
  },
];

/** Folders of Kotlin's sources for other platforms than the JVM. */
const OTHER_PLATFORM =
  /\/(?:js|wasm|native|ios|linux|mac|mingw|apple|unix|posix|nonJvm|web|android|tvos|watchos|desktop)\w*(?:Main|Test)\//;

const output = (command: string, args: readonly string[], input = ""): string =>
  execFileSync(command, args, { input, encoding: "utf8", maxBuffer: 1 << 29, stdio: ["pipe", "pipe", "ignore"] });

/** What calls lead to while a command runs the tests of a checkout. */
function traced(root: string, command: string): string {
  const folder = temporaryFolder("gold");
  const own = { RUBYOPT: `-r${path.join(FOLDER, "gold.rb")}`, GOLD_ROOT: root, GOLD_OUT: folder };
  spawnSync("sh", ["-c", command], { cwd: root, env: { ...process.env, ...own }, stdio: "ignore" });
  const rows = readdirSync(folder).flatMap((file) => readFileSync(path.join(folder, file), "utf8").split("\n"));
  return [...new Set(rows)].sort().join("\n");
}

function tabbed(prepare: () => void, run: () => string): GoldCall[] | string {
  try {
    prepare();
  } catch {
    return "it is not installed";
  }
  return run()
    .split("\n")
    .filter((row) => row !== "")
    .map((row) => {
      const [own = "", line, name = "", to = "", at] = row.split("\t");
      return { path: own, line: Number(line), name, to, at: Number(at) };
    });
}
