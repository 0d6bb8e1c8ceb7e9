/** `npm run dev`: the service with the Workers' logs on the console; a Worker whose sources change is rebuilt and restarted. */
import { watch } from "node:fs";
import path from "node:path";
import { OperatorError } from "../../errors.ts";
import { PROJECT_ROOT } from "../project.ts";
import { DEVELOPMENT_VARS, readEnvironment } from "../stack/environment.ts";
import { startService } from "../stack/service.ts";
import { rejectArguments, runMain } from "./main.ts";
import { untilSignal } from "./signals.ts";

/** An editor writes a file in several steps, and a branch switch many files. */
const SETTLE_MS = 200;
/** Code of this process and migrations: changes to them need a restart. */
const OF_THIS_PROCESS = /^(?:src\/local|drizzle)\//;
const OF_THE_WORKERS = /^src\/(?!cli\/|client\/).*\.(?:ts|toml|html|css|js)$|^wrangler\.toml$/;

await runMain(async () => {
  rejectArguments(process.argv.slice(2));
  const ended = Promise.withResolvers<Error | NodeJS.Signals>();
  void untilSignal().then(ended.resolve);
  const running = await startService({
    ...readEnvironment(process.env, DEVELOPMENT_VARS),
    logToConsole: true,
    onFatal: ended.resolve,
    onProgress: (step) => console.log(`${step} …`),
  });
  const { apiUrl, siteUrl } = running.service;
  console.log(`api ${apiUrl}, site ${siteUrl}; sources are watched, Ctrl-C ends it`);

  let timer: NodeJS.Timeout | undefined;
  let work = Promise.resolve();
  const rebuild = async () => {
    const startedAt = performance.now();
    try {
      const built = await running.stack.rebuild();
      if (built.length === 0) return;
      console.log(`${built.join(", ")} rebuilt in ${((performance.now() - startedAt) / 1000).toFixed(1)} s`);
    } catch (error) {
      // The service continues with its current bundles.
      console.error(`error: ${error instanceof Error ? error.message : String(error)}`);
    }
  };
  const changed = (file: string) => {
    if (OF_THIS_PROCESS.test(file)) console.log(`${file} has changed: restart npm run dev to use it`);
    if (OF_THIS_PROCESS.test(file) || !OF_THE_WORKERS.test(file)) return;
    clearTimeout(timer);
    timer = setTimeout(() => {
      work = work.then(rebuild);
    }, SETTLE_MS);
  };
  const watchers = ["src", "drizzle", "wrangler.toml"].map((name) =>
    watch(path.join(PROJECT_ROOT, name), { recursive: name !== "wrangler.toml" }, (_event, file) =>
      changed(name === "wrangler.toml" ? name : `${name}/${file?.replaceAll(path.sep, "/") ?? ""}`),
    ),
  );
  const reason = await ended.promise;
  for (const watcher of watchers) watcher.close();
  clearTimeout(timer);
  await work;
  await running.stop();
  if (reason instanceof Error) throw new OperatorError(`the service has stopped: ${reason.message}`);
});
// No open handle may keep the process alive.
process.exit();
