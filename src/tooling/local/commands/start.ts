/** `npm start`: runs the whole service on this machine until SIGINT or SIGTERM. */
import path from "node:path";
import { readEnvironment } from "../stack/environment.ts";
import { OperatorError } from "../../errors.ts";
import { rejectArguments, runMain } from "./main.ts";
import { watchDiskSpace } from "../stack/disk-space.ts";
import { startService } from "../stack/service.ts";
import { DEMO_EMAIL, serviceFilePath } from "../stack/service-file.ts";
import { untilSignal } from "./signals.ts";

/** Minimum time for which `/healthz` answers `stopping`, so that a health check can see it. */
const STOPPING_NOTICE_MS = 1_000;

/** A path as one word of a shell's command line. */
function shellWord(file: string): string {
  return /^[\w./-]+$/.test(file) ? file : `'${file.replaceAll("'", String.raw`'\''`)}'`;
}

await runMain(async () => {
  const startedAt = performance.now();
  rejectArguments(process.argv.slice(2));
  const { dataDir, ...options } = readEnvironment(process.env);
  const ended = Promise.withResolvers<Error | NodeJS.Signals>();
  // Listen before starting: a signal during the start stops everything started so far.
  void untilSignal().then(ended.resolve);
  const running = await startService({
    ...options,
    dataDir,
    onFatal: (error) => ended.resolve(error),
    onProgress: (step) => console.log(`${step} …`),
  });
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  const file = path.relative(process.cwd(), serviceFilePath(dataDir));
  const { apiUrl } = running.service;
  const siteUrl = options.publicSiteUrl ?? running.service.siteUrl;
  console.log(
    [
      "",
      `Code Context is ready after ${seconds} s. Ctrl-C ends it.`,
      `  api    ${apiUrl}`,
      `  site   ${siteUrl}`,
      `  dashboard  ${siteUrl}/app`,
      `             sign in as ${DEMO_EMAIL}; the code arrives in ${path.relative(process.cwd(), path.join(dataDir, "mail"))}/`,
      `  data   ${path.relative(process.cwd(), dataDir) || "."} (credentials of a demo tenant in ${file})`,
      "",
      `  curl -s ${apiUrl}/usage -H "Authorization: Bearer $(sed -n 's/.*"apiKey": "\\(.*\\)".*/\\1/p' ${shellWord(file)})"`,
      "",
    ].join("\n"),
  );
  const endWatch = watchDiskSpace(dataDir, (text) => console.warn(text));
  const reason = await ended.promise;
  endWatch();
  if (!(reason instanceof Error)) {
    console.log("stopping …");
    // A supervisor that sends SIGTERM also watches /healthz; a person who presses Ctrl-C does not.
    await running.stack.drain(reason === "SIGTERM" ? STOPPING_NOTICE_MS : 0);
  }
  await running.stop();
  if (reason instanceof Error) throw new OperatorError(`the service has stopped: ${reason.message}`);
});
// No open handle may keep the process alive.
process.exit();
