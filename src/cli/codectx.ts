#!/usr/bin/env node
import { enableCompileCache } from "node:module";

// Before anything else is loaded: later starts take the compiled code of this one.
enableCompileCache();
const { main } = await import("./main.ts");
await main(process.argv.slice(2));
