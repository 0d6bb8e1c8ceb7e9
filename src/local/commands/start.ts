/** `npm start`: the whole service on this machine, until it is told to end. */
import path from "node:path";
import { readEnvironment } from "../stack/environment.ts";
import { StartError } from "../errors.ts";
import { runMain } from "./main.ts";
import { startService } from "../stack/service.ts";
import { DEMO_EMAIL, serviceFilePath } from "../stack/service-file.ts";
import { untilSignal } from "./signals.ts";

await runMain(async () => {
  const startedAt = performance.now();
  const { dataDir, ...options } = readEnvironment(process.env);
  const ended = Promise.withResolvers<Error | undefined>();
  // Listening from the start: a signal while starting ends what has been started.
  void untilSignal().then(() => ended.resolve(undefined));
  const running = await startService({
    ...options,
    dataDir,
    onFatal: (error) => ended.resolve(error),
    onProgress: (step) => console.log(`${step} …`),
  });
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  const file = path.relative(process.cwd(), serviceFilePath(dataDir));
  const { apiUrl, siteUrl } = running.service;
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
      `  curl -s ${apiUrl}/usage -H "Authorization: Bearer $(sed -n 's/.*"apiKey": "\\(.*\\)".*/\\1/p' ${file})"`,
      "",
    ].join("\n"),
  );
  const failure = await ended.promise;
  if (failure === undefined) console.log("stopping …");
  await running.stop();
  if (failure !== undefined) throw new StartError(`the service has stopped: ${failure.message}`);
});
// Whatever handles are left are nobody's any more.
process.exit();
