#!/usr/bin/env node
import { enableCompileCache } from "node:module";

/** Everything of `node:sqlite` that is used is there from this release of Node on. */
const MIN_NODE = [22, 16] as const;

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
if (major < MIN_NODE[0] || (major === MIN_NODE[0] && minor < MIN_NODE[1])) {
  process.stderr.write(`error: codectx needs Node ${MIN_NODE.join(".")} or newer, this is ${process.versions.node}\n`);
  process.exit(2);
}

// Node 22 announces its SQLite as experimental in every run; that is no news to the user of a command.
const listeners = process.listeners("warning");
process.removeAllListeners("warning");
process.on("warning", (warning) => {
  if (warning.name !== "ExperimentalWarning") for (const listener of listeners) listener(warning);
});

// Before anything else is loaded: later starts take the compiled code of this one.
enableCompileCache();
void import("./main.ts").then(({ main }) => main(process.argv.slice(2)));
