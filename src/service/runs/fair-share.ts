/** Fair sharing of the indexing queue among tenants: each has a few slots; further runs wait in line. */

/** Concurrent runs per tenant. The queue is shared: further runs would delay those of other tenants. */
export const MAX_WORKING_RUNS = 4;

/** The waiting runs to which a tenant's free slots go, oldest first. `line` is all of the tenant's runs in order of arrival. */
export function grantSlots<T extends { granted: boolean }>(line: readonly T[], slots = MAX_WORKING_RUNS): T[] {
  const free = slots - line.filter(({ granted }) => granted).length;
  return free > 0 ? line.filter(({ granted }) => !granted).slice(0, free) : [];
}
