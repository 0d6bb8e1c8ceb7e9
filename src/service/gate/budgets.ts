import { SURFACES, type Surface } from "../../contract/surfaces.ts";

interface RateBudget {
  /** Requests per window. */
  limit: number;
  windowSec: number;
}

export type RateBudgets = Readonly<Record<Surface, RateBudget>>;

const FIELDS = ["limit", "windowSec"] as const;

/**
 * The budget of every surface: the contract's defaults, overridden by the `RATE_LIMITS` variable, for example
 * `{"index":{"limit":60},"search":{"limit":100,"windowSec":10}}`. Throws `Error` that names the field if the variable is
 * malformed, so that a typing error never loosens a limit unnoticed.
 */
export function readBudgets(json: string | undefined): RateBudgets {
  const budgets = Object.fromEntries(
    Object.entries(SURFACES).map(([surface, { limit, windowSec }]) => [surface, { limit, windowSec }]),
  ) as Record<Surface, RateBudget>;
  if (json === undefined || json.trim() === "") return budgets;
  for (const [surface, override] of Object.entries(parseObject(json, "RATE_LIMITS"))) {
    const budget = Object.hasOwn(budgets, surface) ? budgets[surface as Surface] : undefined;
    if (!budget) {
      throw new Error(`RATE_LIMITS.${surface} is not a known surface: use one of ${Object.keys(budgets).join(", ")}`);
    }
    for (const [field, value] of Object.entries(requireObject(override, `RATE_LIMITS.${surface}`))) {
      const name = FIELDS.find((candidate) => candidate === field);
      if (!name) throw new Error(`RATE_LIMITS.${surface}.${field} is not a known field: use limit or windowSec`);
      if (!Number.isSafeInteger(value) || (value as number) < 1) {
        throw new Error(`RATE_LIMITS.${surface}.${field} must be a whole number of at least 1`);
      }
      budget[name] = value as number;
    }
  }
  return budgets;
}

function parseObject(json: string, name: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    throw new Error(`${name} is not JSON: write it like {"index":{"limit":60}} or leave it empty`);
  }
  return requireObject(value, name);
}

function requireObject(value: unknown, name: string): Record<string, unknown> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new Error(`${name} must be a JSON object`);
  }
  return value as Record<string, unknown>;
}
