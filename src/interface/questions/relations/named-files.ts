/** Lines that name a file or folder by its path: templates that are rendered, scripts that are run, modules of Terraform, roles of Ansible. */
import { hasUses, isTemplate } from "../../../engines/relations/languages.ts";
import { folderOf } from "../../../engines/relations/modules.ts";
import type { QuestionFiles } from "../../../engines/relations/question-files.ts";
import type { FoundUse } from "./found.ts";
import { usesByName } from "./mentioning.ts";
import { occurrencesOf } from "./occurrences.ts";

/** What paths in texts consist of. */
const PATH_CHARACTER = /[\w./@~-]/;
const MAX_PATH = 200;
const QUOTE = /["'`]/;

/**
 * The lines outside of a folder that name it, or those that name a file, of which no import tells; they are known by name. Files of code are
 * imported by the rules of their language.
 */
export async function namingLines(files: QuestionFiles, path: string): Promise<FoundUse[]> {
  const language = files.language(path);
  if (hasUses(language) && !isTemplate(language) && language !== "bash") return [];
  const last = nameIn(path);
  // A partial of Rails is `_item.html.erb`, and rendered as `item`.
  const stem = nameIn(withoutExtension(path));
  if (stem === "") return [];
  const names = [...new Set([stem, `_${stem}`])];
  const isOnly = files.paths.every((each) => each === path || !isEndOf(last, each));
  const wanted: { name: string; paths: Set<string> }[] = [];
  for (const name of names) {
    const mentioning = await files.mentioning(name, [path]);
    const others = mentioning.map((each) => each.path).filter((each) => each !== path && !each.startsWith(`${path}/`));
    wanted.push({ name, paths: new Set(others) });
  }
  const isModel = language === "sql" || language === "csv";
  const isRole = /(?:^|\/)roles\/[^/]+$/.test(path);
  const found = await usesByName(
    files,
    wanted,
    (line, name) =>
      namesFile(line.text, name, { path, isBare: isOnly || folderOf(line.path) === folderOf(path) }) ||
      (isRole && files.language(line.path) === "yaml" && namesRole(line.text, name)) ||
      (isModel && namesModel(line.text, name)),
  );
  return found.flat();
}

/**
 * Whether a line has the path of a file, or the end of it: with a folder and, unless it is in quotes, with the extension, or with the extension
 * alone if `isBare`. In quotes, dots may stand between folders. `name` is the file's name up to its extension as the line has it.
 */
export function namesFile(text: string, name: string, { path, isBare }: { path: string; isBare: boolean }): boolean {
  const plain = withoutExtension(path);
  for (let at = text.indexOf(name); at >= 0; at = text.indexOf(name, at + name.length)) {
    let start = at;
    while (start > 0 && at - start < MAX_PATH && PATH_CHARACTER.test(text[start - 1]!)) start--;
    let end = at + name.length;
    while (end < text.length && end - at < MAX_PATH && PATH_CHARACTER.test(text[end]!)) end++;
    const written = text
      .slice(start, end)
      .replace(/^(?:[.~@]{0,2}\/)+/, "")
      .replace(/(?<![.-])[.-]+$/, "");
    if (isEndOf(written, path)) {
      if (written.includes("/") || (isBare && written.length > name.length)) return true;
    } else if (QUOTE.test(text[start - 1] ?? "") && QUOTE.test(text[end] ?? "")) {
      const folders = written.includes("/") ? written : written.replaceAll(".", "/");
      if (folders.includes("/") && isEndOf(folders, plain)) return true;
    }
  }
  return false;
}

/** Whether a line of a playbook names a role: `role: etcd`, `- { role: etcd }`, `- etcd`. */
const namesRole = (text: string, name: string): boolean =>
  occurrencesOf(text, name).some(
    ({ before, after }) =>
      /^(?:-\s+)?(?:\{\s*)?role:\s*["']?$|^-\s+["']?$/.test(before) && /^["']?\s*(?:[,}#]|$)/.test(after),
  );

/** Whether a line refers to a model or seed of dbt: `ref('orders')`, `ref('shop', 'orders')`. */
const namesModel = (text: string, name: string): boolean =>
  occurrencesOf(text, name).some(
    ({ before, after }) => /\bref\s?\(\s?(?:["'][\w.]{1,99}["'],\s?)?["']$/.test(before) && /^["']/.test(after),
  );

const nameIn = (path: string): string => path.slice(path.lastIndexOf("/") + 1);

const isEndOf = (end: string, path: string): boolean => path === end || path.endsWith(`/${end}`);

/** `app/views/items/_item.html.erb` is `app/views/items/item`. */
function withoutExtension(path: string): string {
  const slash = path.lastIndexOf("/") + 1;
  const dot = path.indexOf(".", slash + 1);
  return path.slice(0, slash) + path.slice(slash, dot < 0 ? path.length : dot).replace(/^_/, "");
}
