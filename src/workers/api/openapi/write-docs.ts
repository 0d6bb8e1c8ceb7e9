/** `npm run docs`: writes the generated documentation into the repository. */
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { generatedFiles } from "./files.ts";

const root = path.resolve(import.meta.dirname, "../../../..");
const { version } = JSON.parse(readFileSync(path.join(root, "package.json"), "utf8")) as { version: string };
for (const [file, text] of Object.entries(generatedFiles(version))) {
  writeFileSync(path.join(root, file), text);
  console.log(`wrote ${file}`);
}
