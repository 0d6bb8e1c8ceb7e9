/** Secrets as they stand in whole files of many formats. */
import type { Form } from "./form.ts";
import { CHOSEN } from "./forms-chosen.ts";
import { DIRECTIVES } from "./forms-directives.ts";
import { CODE, ENCODED } from "./forms-code.ts";
import { CONFIGURATION, DOCUMENTS } from "./forms-documents.ts";
import { JOINED } from "./forms-joined.ts";
import { CI, FALLBACKS, INFRASTRUCTURE } from "./forms-operations.ts";

export const FORMS: readonly Form[] = [
  ...FALLBACKS,
  ...INFRASTRUCTURE,
  ...CI,
  ...CONFIGURATION,
  ...DOCUMENTS,
  ...ENCODED,
  ...CODE,
  ...DIRECTIVES,
  ...CHOSEN,
  ...JOINED,
];
