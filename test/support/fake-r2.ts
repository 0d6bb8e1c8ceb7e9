/** R2 buckets of the fake of Cloudflare's API; rules have the form that the typed client (`cloudflare` on npm) declares. */
import { z } from "zod";
import type { Call } from "./fake-domains.ts";
import { Refusal } from "./fake-workers.ts";

/** Number of objects in each bucket; the fake does not store objects. */
export type FakeBuckets = Map<string, { objects: number; lifecycle: unknown[]; cors: unknown[] }>;

/** Rule that R2 gives each new bucket. */
const ABORT_UPLOADS = {
  id: "Default Multipart Abort Rule",
  enabled: true,
  conditions: { prefix: "" },
  abortMultipartUploadsTransition: { condition: { type: "Age", maxAge: 604_800 } },
};

const Age = z.strictObject({ type: z.literal("Age"), maxAge: z.int().min(1) });
const Day = z.strictObject({ type: z.literal("Date"), date: z.iso.datetime() });
const LifecycleRule = z.strictObject({
  id: z.string().min(1),
  enabled: z.boolean(),
  conditions: z.strictObject({ prefix: z.string() }),
  abortMultipartUploadsTransition: z.strictObject({ condition: Age }).optional(),
  deleteObjectsTransition: z.strictObject({ condition: z.union([Age, Day]) }).optional(),
  storageClassTransitions: z
    .array(z.strictObject({ condition: z.union([Age, Day]), storageClass: z.literal("InfrequentAccess") }))
    .optional(),
});
/** An origin has no path. */
const Origin = z.string().regex(/^(?:\*|https?:\/\/[^/\s]+)$/);
const CorsRule = z.strictObject({
  id: z.string().optional(),
  allowed: z.strictObject({
    methods: z.array(z.enum(["GET", "PUT", "POST", "DELETE", "HEAD"])).min(1),
    origins: z.array(Origin).min(1),
    headers: z.array(z.string()).optional(),
  }),
  exposeHeaders: z.array(z.string()).optional(),
  maxAgeSeconds: z.int().min(0).max(86_400).optional(),
});

const Bodies = {
  lifecycle: z.strictObject({ rules: z.array(LifecycleRule).max(1000) }),
  cors: z.strictObject({ rules: z.array(CorsRule).min(1).max(100) }),
};

/** The rules of a `PUT`. Throws `ZodError` for what R2 refuses; two rules with the same id are refused, too. */
function bucketRules(kind: "lifecycle" | "cors", body: unknown): unknown[] {
  const { rules } = Bodies[kind].parse(body);
  const ids = rules.flatMap(({ id }) => id ?? []);
  return z.array(z.unknown()).parse(new Set(ids).size === ids.length ? rules : undefined);
}

export async function bucketRoute(
  buckets: FakeBuckets,
  { method, path, request }: Call,
  [name, sub]: string[],
): Promise<unknown> {
  if (name === undefined) {
    if (method !== "POST") throw new Refusal(405, 7003, `Could not route ${method} ${path}`);
    const wanted = z.object({ name: z.string() }).parse(await request.json()).name;
    if (!/^[a-z0-9][a-z0-9-]{1,61}[a-z0-9]$/.test(wanted))
      throw new Refusal(400, 10005, "The bucket name is not valid");
    if (buckets.has(wanted))
      throw new Refusal(409, 10004, "The bucket you tried to create already exists, and you own it");
    buckets.set(wanted, { objects: 0, lifecycle: [ABORT_UPLOADS], cors: [] });
    return { name: wanted };
  }
  const bucket = buckets.get(name);
  if (!bucket) throw new Refusal(404, 10006, "The specified bucket does not exist.");
  if (sub === undefined && method === "GET") return { name };
  if (sub === undefined && method === "DELETE") {
    if (bucket.objects > 0) throw new Refusal(409, 10008, "The bucket you tried to delete is not empty");
    buckets.delete(name);
    return {};
  }
  if (sub !== "lifecycle" && sub !== "cors") throw new Refusal(405, 7003, `Could not route ${method} ${path}`);
  if (method === "GET") {
    if (sub === "cors" && bucket.cors.length === 0)
      throw new Refusal(404, 10059, "The CORS configuration does not exist.");
    return { rules: bucket[sub] };
  }
  bucket[sub] = method === "DELETE" ? [] : bucketRules(sub, await request.json());
  return {};
}
