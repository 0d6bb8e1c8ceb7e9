/**
 * Entry of the npm scripts: `node src/tooling/local/run.mjs <command> …`. Plain JavaScript, so that an outdated Node or a missing
 * installation is reported in one line instead of as a syntax error.
 */
import http from "node:http";
import module from "node:module";

const [, , command = "", ...rest] = process.argv;
const COMMANDS = ["start", "dev", "demo", "admin", "build", "sizes", "types", "notices", "migrate"];
const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);

function fail(message) {
  console.error(`error: ${message}`);
  process.exit(1);
}

if (major < 22 || (major === 22 && minor < 18)) {
  fail(
    `Node 24 is needed and this is ${process.version}: "npm ci" installs one beside the service, "npm run ${command}" uses it`,
  );
}
if (!COMMANDS.includes(command)) fail(`unknown command "${command}": expected one of ${COMMANDS.join(", ")}`);
process.argv.splice(2, process.argv.length, ...rest);
// What NODE_USE_ENV_PROXY sends to a proxy must not include the calls of the service's parts to one another on this machine.
if (process.env.NODE_USE_ENV_PROXY === "1" && http.setGlobalProxyFromEnv) {
  const excluded = [process.env.no_proxy || process.env.NO_PROXY, "127.0.0.1", "localhost"].filter(Boolean).join(",");
  process.env.no_proxy = process.env.NO_PROXY = excluded;
  http.setGlobalProxyFromEnv(process.env);
}
// Caches compiled code between starts, because loading Miniflare and wrangler is a large part of the start-up time.
module.enableCompileCache?.();
try {
  await import("./drizzle-imports.mjs");
  await import(`./commands/${command}.ts`);
} catch (error) {
  const missing =
    error?.code === "ERR_MODULE_NOT_FOUND" ? /Cannot find (?:package|module) '([^']+)'/.exec(error.message) : null;
  if (!missing) throw error;
  fail(`${missing[1]} is not installed: run "npm ci" first`);
}
