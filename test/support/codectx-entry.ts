import { fileURLToPath } from "node:url";

/** The `codectx` command: as users run it, where the set-up of a test project has bundled it (`codectx-bundle.ts`), else its sources. */
export const CODECTX_ENTRY =
  process.env["CODECTX_ENTRY"] ?? fileURLToPath(new URL("../../src/cli/codectx.ts", import.meta.url));
