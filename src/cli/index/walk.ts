import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { skipReason } from "../../parsing/skip.ts";
import { CODECTX_IGNORE, IgnoreRules } from "./ignore-rules.ts";

/** Files below a folder that is no git work tree, by the rules of its `.gitignore` and `.codectxignore` files. */
export function walkFolder(root: string): { paths: string[]; rules: IgnoreRules } {
  const rules = new IgnoreRules();
  const paths: string[] = [];
  const pending = [""];
  for (let folder = pending.pop(); folder !== undefined; folder = pending.pop()) {
    const entries = readdirSync(join(root, folder), { withFileTypes: true });
    for (const { name } of entries) {
      if (name === ".gitignore" || name === CODECTX_IGNORE)
        rules.add(folder, readFileSync(join(root, folder, name), "utf8"));
    }
    for (const entry of entries) {
      const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
      if (entry.isDirectory()) {
        if (skipReason(`${path}/x`) === undefined && !rules.ignores(`${path}/`)) pending.push(path);
      } else if (entry.isFile()) paths.push(path);
    }
  }
  return { paths: paths.filter((path) => !rules.ignores(path)).sort(), rules };
}
