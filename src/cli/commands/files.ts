import { FILES } from "../../contract/questions.ts";
import { files } from "../../interface/questions/exact.ts";
import { filesResponse } from "../../interface/questions/exact-http.ts";
import { ask, show } from "../ask.ts";
import { requestOf } from "../request.ts";
import type { Context } from "../context.ts";
import { folderPathOf } from "../project.ts";
import type { RemoteOption } from "../remote/remote-search.ts";
import { formatBytes, plural, table } from "../terminal/ui.ts";

/** `codectx files [path]`: the files below a folder or of a glob, with their state. */
export async function filesCommand(context: Context, path: string | undefined, options: RemoteOption): Promise<void> {
  const found = await ask(context, files, {
    options,
    request: (project) => requestOf(FILES, { path: folderPathOf(context, project, path, options) }, options),
  });
  await show(context, found, filesResponse, () => {
    const { files: listed, folders, next } = found.answer;
    const rows = [
      ...folders.map((folder) => [folder.path, plural(folder.files, "file"), ""]),
      ...listed.map(({ path: own, size, state }) => [
        own,
        size === null ? "" : formatBytes(size),
        state === "indexed" ? "" : state.replace("_", " "),
      ]),
    ];
    return [...table(rows), ...(next === undefined ? [] : [`(more; --cursor ${next} goes on)`])];
  });
}
