/** The documentation as `npm run docs:site` leaves it in `dist/docs`. */
import docsText from "../../../../dist/docs/docs.txt";
import segment from "../../../../dist/docs/segment.bin";
import table from "../../../../dist/docs/table.bin";
import type { Docs } from "./types.ts";

export const docs = JSON.parse(docsText) as Docs;

/** The search index over the sections of all pages: one segment and the table that names its contents. */
export { segment, table };
