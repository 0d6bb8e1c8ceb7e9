/** Fair sharing of the indexing queue among tenants: each has a few slots, and its further runs wait in line. */

/** Runs of a tenant that work at the same time. The queue is shared: further runs would delay other tenants' runs. */
export const MAX_WORKING_RUNS = 4;

/** The waiting runs that get a tenant's free slots now, the oldest first. `line` is all of the tenant's runs in the order they came. */
export function grantSlots<T extends { granted: boolean }>(line: readonly T[], slots = MAX_WORKING_RUNS): T[] {
  const free = slots - line.filter(({ granted }) => granted).length;
  return free > 0 ? line.filter(({ granted }) => !granted).slice(0, free) : [];
}
