/** Mutations of several things at once. */
import { asRefusal } from "./errors.ts";

/** Reasons that a notice has room for. */
const REASONS_SHOWN = 3;

interface Outcome<R> {
  made: R[];
  failed: { name: string; error: string }[];
  /** The first failures as text; empty without any. */
  reasons: string;
}

/** Does something for each item in turn. Refusals are collected; other errors end it. */
export async function forEach<T, R>(
  items: readonly T[],
  nameOfItem: (item: T) => string,
  run: (item: T) => Promise<R>,
): Promise<Outcome<R>> {
  const made: R[] = [];
  const failed: Outcome<R>["failed"] = [];
  for (const item of items) {
    try {
      made.push(await run(item));
    } catch (error) {
      const refusal = asRefusal(error);
      if (!refusal) throw error;
      failed.push({ name: nameOfItem(item), error: refusal.message });
    }
  }
  const texts = failed.slice(0, REASONS_SHOWN).map(({ name, error }) => `${name}: ${error}`);
  if (failed.length > REASONS_SHOWN) texts.push(`and ${failed.length - REASONS_SHOWN} more`);
  return { made, failed, reasons: texts.join("; ") };
}
