/** A process that starts the database of a data directory, its argument, and reports the URL; it is ended by a signal. */
import { startDatabase } from "../../src/tooling/local/database/database.ts";

const [, , dataDir = ""] = process.argv;
const { url } = await startDatabase({ dataDir });
process.send?.(url);
