import { IMPACT } from "../../contract/questions.ts";
import { CliError, EXIT } from "../exit-codes.ts";
import { FileTree } from "../indexing/file-tree.ts";
import { type Project, requireGit } from "../project.ts";
import { gitComparing, GitCommandError } from "./command.ts";
import { untrackedPaths } from "./paths.ts";

/** New files that git does not track yet: so many are part of the change, those that are not larger. */
const MAX_UNTRACKED = 50;
const MAX_UNTRACKED_BYTES = 64 * 1024;
/** What git says of an object that is damaged or missing, or that a partial clone would have to fetch. */
const LACKS_OBJECTS = /from promisor remote|unable to read/;
/** The form of the output, whatever the configuration says. Submodules are left out: git would ask them, with their configuration. */
const DIFF = [
  "diff",
  "--no-color",
  "--no-ext-diff",
  "--no-textconv",
  "--no-relative",
  "--src-prefix=a/",
  "--dst-prefix=b/",
  "--unified=3",
  "--find-renames",
  "--ignore-submodules=all",
];

/**
 * A change as a unified diff: between the commits of a range (`HEAD~3..HEAD`, `main...HEAD`), or of the work tree against one commit
 * (`HEAD` by default), files that are not tracked included. Throws `CliError` for an unknown range, and if nothing has changed.
 */
export async function patchOf(project: Project, range: string | undefined): Promise<string> {
  requireGit(project);
  if (range?.startsWith("-")) throw new CliError(EXIT.usage, "USAGE", `not a range of commits: ${range}`);
  if (project.head === undefined)
    throw new CliError(EXIT.usage, "NO_COMMIT", "there is no commit yet that the work tree could differ from");
  const { root } = project;
  const output = await gitComparing(root, [...DIFF, "--end-of-options", range ?? "HEAD", "--"]).catch(
    (error: unknown) => {
      if (!(error instanceof GitCommandError) || error.hung) throw error;
      if (LACKS_OBJECTS.test(error.stderr))
        throw new CliError(
          EXIT.io,
          "INCOMPLETE",
          `git lacks objects of ${range ?? "HEAD"}, as in a partial or damaged clone, so what has changed is not known`,
        );
      if (range === undefined) throw error;
      throw new CliError(
        EXIT.notFound,
        "NO_COMMIT",
        `no such range of commits in this clone: ${range}${range.includes("..") ? "" : `; for a file give --path ${range}, for a definition --name ${range}`}`,
      );
    },
  );
  const isOfWorkTree = range === undefined || !range.includes("..");
  const patch = output.toString("utf8") + (isOfWorkTree ? await untracked(root) : "");
  if (patch === "")
    throw new CliError(
      EXIT.notFound,
      "NOTHING_CHANGED",
      range === undefined
        ? "the work tree has no uncommitted changes: name a range such as HEAD~3..HEAD, a definition (--name) or files (--path)"
        : `nothing differs in ${range}`,
    );
  const { max } = IMPACT.patch;
  if (patch.length <= max) return patch;
  const size = max.toLocaleString("en-US");
  throw new CliError(
    EXIT.usage,
    "TOO_LARGE",
    `the change has more than ${size} characters: name a smaller range, or its files with --path`,
  );
}

async function untracked(root: string): Promise<string> {
  const paths = await untrackedPaths(root);
  const tree = new FileTree(root);
  return paths
    .slice(0, MAX_UNTRACKED)
    .map((path) => {
      const size = tree.lstat(path)?.size ?? 0;
      const bytes = size === 0 || size > MAX_UNTRACKED_BYTES ? undefined : tree.read(path, MAX_UNTRACKED_BYTES);
      const text = bytes && Buffer.from(bytes).toString("utf8");
      const head = `diff --git ${quoted("a/", path)} ${quoted("b/", path)}\nnew file mode 100644\n`;
      if (text === undefined || text.includes("\0")) return head;
      const lines = text.replace(/\n$/, "").split("\n");
      const names = `--- /dev/null\n+++ ${quoted("b/", path)}\n`;
      return `${head}${names}@@ -0,0 +1,${lines.length} @@\n${lines.map((line) => `+${line}\n`).join("")}`;
    })
    .join("");
}

/** A path in a line of a diff. */
function quoted(prefix: "a/" | "b/", path: string): string {
  return path.startsWith('"') ? `"${prefix}${path.slice(1)}` : JSON.stringify(prefix + path);
}
