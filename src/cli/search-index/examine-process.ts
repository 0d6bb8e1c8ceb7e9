import { writeSync } from "node:fs";
import { examineTree } from "./examine-tree.ts";

/** The process of {@link examineTreeBeside}: prints the state as JSON, `null` if the work tree is not in it. Its folder is the root. */
const [directory = "", name = ""] = process.argv.slice(2);
// Paths relative to the current folder are found faster: 9 ms less for 20,000 files.
writeSync(1, JSON.stringify(examineTree({ root: ".", directory, name }) ?? null));
