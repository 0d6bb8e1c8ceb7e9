#!/usr/bin/env node
import { enableCompileCache, flushCompileCache } from "node:module";

/** First release of Node with everything that is used of `node:sqlite`. */
const MIN_NODE = [22, 16] as const;

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
if (major < MIN_NODE[0] || (major === MIN_NODE[0] && minor < MIN_NODE[1])) {
  process.stderr.write(`error: codectx needs Node ${MIN_NODE.join(".")} or newer, this is ${process.versions.node}\n`);
  process.exit(2);
}

// Suppress Node 22's warning about experimental SQLite.
const listeners = process.listeners("warning");
process.removeAllListeners("warning");
process.on("warning", (warning) => {
  if (warning.name !== "ExperimentalWarning") for (const listener of listeners) listener(warning);
});

// Must come before other modules are loaded: later starts reuse the compiled code.
enableCompileCache();
async function run(): Promise<void> {
  const { main } = await import("./main.ts");
  await main(process.argv.slice(2));
  // While SIGXFSZ is handled: written at the exit, the cache would end the process by that signal where files are limited.
  flushCompileCache();
}
void run();
