/**
 * `npm run notices [-- --check]`: writes THIRD_PARTY_NOTICES.md, the licences of the packages in the CLI and the Workers,
 * from the installed packages; or checks that it is up to date.
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { CORE_WASM, GRAMMAR_WASM } from "../../../engines/parsing/grammar-files.ts";
import { OperatorError } from "../../errors.ts";
import { PROJECT_ROOT } from "../project.ts";
import { runMain } from "./main.ts";

const FILE = path.join(PROJECT_ROOT, "THIRD_PARTY_NOTICES.md");
const MIT_TERMS = `Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated documentation
files (the "Software"), to deal in the Software without restriction, including without limitation the rights to use, copy,
modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit persons to whom the Software
is furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES
OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE
LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR
IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.`;

/** Grammars that a package ships prebuilt without their licence, in the versions that it builds. */
const PREBUILT: Record<string, { source: string; version: string; license: string }> = {
  swift: {
    source: "https://github.com/alex-pinkus/tree-sitter-swift",
    version: "0.7",
    license: `MIT License\n\nCopyright (c) 2021 alex-pinkus\n\n${MIT_TERMS}`,
  },
  dart: {
    source: "https://github.com/UserNobody14/tree-sitter-dart",
    version: "of the package's build",
    license: `MIT License\n\nCopyright (c) 2020-2023 UserNobody14 and others\n\n${MIT_TERMS}`,
  },
};

/** Helpers of native builds, which are not shipped. */
const NOT_SHIPPED = /^(?:node-addon-api|node-gyp-build|npm-check-updates)$/;
const IS_GRAMMAR = /(?:^|\/)tree-sitter-/;

interface Package {
  name: string;
  version: string;
  source: string;
  license: string;
  text: string;
}

await runMain(async () => {
  const text = write();
  if (!process.argv.includes("--check")) {
    writeFileSync(FILE, text);
    console.log("THIRD_PARTY_NOTICES.md written");
  } else if (!existsSync(FILE) || readFileSync(FILE, "utf8") !== text) {
    throw new OperatorError("THIRD_PARTY_NOTICES.md is out of date: run npm run notices and commit the result");
  } else console.log("THIRD_PARTY_NOTICES.md is up to date");
});

function write(): string {
  const libraries = bundledPackages();
  const grammars = Object.entries(GRAMMAR_WASM).map(([grammar, file]) => {
    const owner = readPackage(packageOf(file));
    const origin = PREBUILT[grammar];
    return { grammar, file: path.basename(file), owner, origin };
  });
  const rows = grammars.map(({ grammar, file, owner, origin }) =>
    origin === undefined
      ? `| ${grammar} | \`${file}\` | ${owner.name} ${owner.version} | ${owner.source} | ${owner.license} |`
      : `| ${grammar} | \`${file}\` | ${owner.name} ${owner.version}, tree-sitter-${grammar} ${origin.version} | ${origin.source} | MIT |`,
  );
  const owners = new Map(grammars.map(({ owner }) => [owner.name, owner]));
  const core = readPackage(packageOf(CORE_WASM));
  const sections = [...new Map([...libraries, core, ...owners.values()].map((item) => [item.name, item])).values()]
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .map(({ name, version, source, license, text }) => section(`${name} ${version}`, `${license}. ${source}`, text));
  const prebuilt = Object.entries(PREBUILT).map(([grammar, { source, license }]) =>
    section(`tree-sitter-${grammar}`, source, license),
  );
  return [
    "# Third-party notices",
    "",
    "What the `codectx` package and the Workers carry besides the project's own code. Written by `npm run notices`.",
    "",
    "## Grammars",
    "",
    `The parser's core is \`${path.basename(CORE_WASM)}\` of ${core.name} ${core.version} (${core.source}).`,
    "",
    "| Grammar | File | Package and version | Source | License |",
    "| --- | --- | --- | --- | --- |",
    ...rows,
    "",
    "## Licenses",
    "",
    ...sections,
    ...prebuilt,
  ]
    .join("\n")
    .trimEnd()
    .concat("\n");
}

function section(title: string, origin: string, text: string): string {
  return `### ${title}\n\n${origin}\n\n\`\`\`text\n${text.replaceAll("```", "'''").trim()}\n\`\`\`\n`;
}

/** Every package that a bundle may contain, from the lock file: direct and transitive dependencies. */
function bundledPackages(): Package[] {
  const lock = JSON.parse(readFileSync(path.join(PROJECT_ROOT, "package-lock.json"), "utf8")) as {
    packages: Record<string, { dev?: boolean; optional?: boolean; devOptional?: boolean }>;
  };
  return Object.entries(lock.packages)
    .filter(([at, entry]) => at.startsWith("node_modules/") && !entry.dev && !entry.optional && !entry.devOptional)
    .map(([at]) => at.slice("node_modules/".length))
    .filter((name) => !name.includes("node_modules/") && !NOT_SHIPPED.test(name) && !IS_GRAMMAR.test(name))
    .map(readPackage);
}

/** The package of a module specifier. */
function packageOf(specifier: string): string {
  return specifier
    .split("/")
    .slice(0, specifier.startsWith("@") ? 2 : 1)
    .join("/");
}

function readPackage(name: string): Package {
  const folder = path.join(PROJECT_ROOT, "node_modules", name);
  const manifest = JSON.parse(readFileSync(path.join(folder, "package.json"), "utf8")) as {
    version: string;
    license?: string;
    repository?: string | { url?: string };
  };
  const { repository } = manifest;
  const url = typeof repository === "string" ? repository : (repository?.url ?? "");
  const license = manifest.license ?? "";
  if (license === "" || url === "") throw new OperatorError(`${name} names no licence or no repository`);
  return { name, version: manifest.version, source: plainUrl(url), license, text: licenseText(folder, license) };
}

function plainUrl(url: string): string {
  return url
    .replace(/^git\+/, "")
    .replace(/^github:/, "https://github.com/")
    .replace(/^git:\/\//, "https://")
    .replace(/\.git$/, "");
}

/** The package's licence text. For the Apache License, which is also this project's, a reference and the notice. */
function licenseText(folder: string, license: string): string {
  const files = readdirSync(folder);
  const read = (pattern: RegExp) =>
    files.filter((name) => pattern.test(name)).map((name) => readFileSync(path.join(folder, name), "utf8"));
  const notices = read(/^notice/i);
  if (license === "Apache-2.0")
    return ["Apache License 2.0; its text is in the file LICENSE.", ...notices].join("\n\n");
  const texts = read(/^licen[cs]e/i);
  if (texts.length === 0) throw new OperatorError(`${path.basename(folder)} contains no licence text`);
  return [...texts, ...notices].join("\n\n").replaceAll("\r\n", "\n");
}
