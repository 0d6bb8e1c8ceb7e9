import type { Check } from "../target.ts";
import { indexingChecks } from "./indexing.ts";
import { meteredChecks } from "./metered.ts";
import { searchChecks } from "./search.ts";
import { serviceChecks } from "./service.ts";
import { snapshotChecks } from "./snapshots.ts";

/** Every check, in the order in which a run does them: what is indexed is there to be searched. */
export const CHECKS: readonly Check[] = [
  ...serviceChecks,
  ...meteredChecks,
  ...indexingChecks,
  ...searchChecks,
  ...snapshotChecks,
];
