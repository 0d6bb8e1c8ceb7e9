import { fileURLToPath } from "node:url";

/** Root of this checkout. */
export const PROJECT_ROOT = fileURLToPath(new URL("../../../", import.meta.url));
