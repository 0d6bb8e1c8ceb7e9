import * as z from "zod";

export const CHECK_NAMES = ["database", "storage", "queue", "embedding", "gate"] as const;
export type CheckName = (typeof CHECK_NAMES)[number];

export const HealthCheck = z.object({
  ok: z.boolean(),
  latencyMs: z.number().min(0),
  checkedAt: z.iso.datetime(),
  error: z.string().optional(),
});
export type HealthCheck = z.infer<typeof HealthCheck>;

export const HealthResponse = z
  .object({
    ok: z.boolean(),
    status: z.enum(["ok", "degraded", "starting", "stopping"]),
    version: z.string(),
    checks: z.partialRecord(z.enum(CHECK_NAMES), HealthCheck),
  })
  .meta({ id: "HealthResponse" });
export type HealthResponse = z.infer<typeof HealthResponse>;
