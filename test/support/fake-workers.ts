/** Workers of the fake of Cloudflare's API: their versions, and which of them is deployed. */
import { randomUUID } from "node:crypto";
import { z } from "zod";

export const Binding = z.looseObject({
  type: z.string(),
  name: z.string(),
  text: z.string().optional(),
  queue_name: z.string().optional(),
  bucket_name: z.string().optional(),
  script_name: z.string().optional(),
  class_name: z.string().optional(),
  service: z.string().optional(),
  entrypoint: z.string().optional(),
});
export const Metadata = z.looseObject({
  bindings: z.array(Binding).default([]),
  exports: z.record(z.string(), z.unknown()).optional(),
});
export type Metadata = z.infer<typeof Metadata>;

export interface Version {
  metadata: Metadata;
  secrets: Map<string, string>;
  /** The uploaded modules, as one text. */
  code: string;
}

/** A Worker, with what its current version has. */
export interface Script extends Version {
  versions: Map<string, Version>;
  /** Newest first. */
  deployments: { versionId: string; message?: string | undefined }[];
  crons: unknown;
}

/** Thrown by a route; becomes Cloudflare's error envelope. */
export class Refusal extends Error {
  readonly status: number;
  readonly code: number;

  constructor(status: number, code: number, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

/** A Worker without any version. */
export function newScript(): Script {
  const empty: Version = { metadata: { bindings: [] }, secrets: new Map(), code: "" };
  return { ...empty, versions: new Map(), deployments: [], crons: [] };
}

/** Stores an uploaded version and returns its id. It keeps the secrets of the current one that it does not name. */
export async function addVersion(
  script: Script,
  form: FormData,
  check: (binding: z.infer<typeof Binding>, metadata: Metadata) => void,
): Promise<string> {
  const metadata = Metadata.parse(JSON.parse(z.string().parse(form.get("metadata"))));
  for (const binding of metadata.bindings) check(binding, metadata);
  const secrets = new Map(script.secrets);
  for (const { type, name: secret, text } of metadata.bindings)
    if (type === "secret_text") secrets.set(secret, text ?? "");
  let code = "";
  for (const value of form.values())
    if (value instanceof Blob && value.type.startsWith("application/javascript")) code += await value.text();
  const versionId = randomUUID();
  script.versions.set(versionId, { metadata, secrets, code });
  return versionId;
}

export function deployVersion(script: Script, body: unknown): unknown {
  const version = z.object({ version_id: z.string(), percentage: z.literal(100) });
  const annotations = z.object({ "workers/message": z.string().max(120).optional() }).optional();
  const wanted = z.object({ strategy: z.literal("percentage"), versions: z.tuple([version]), annotations }).parse(body);
  activate(script, wanted.versions[0].version_id, wanted.annotations?.["workers/message"]);
  return { id: randomUUID() };
}

/** Makes a version the one that takes the Worker's requests. */
export function activate(script: Script, versionId: string, message?: string): void {
  const version = script.versions.get(versionId);
  if (!version) throw new Refusal(400, 10210, `No version with id ${versionId}`);
  Object.assign(script, version);
  script.deployments.unshift({ versionId, message });
}

/** Whether a bundle's list of exports has the name. */
export function exportsName(code: string | undefined, name: string): boolean {
  const lists = [...(code ?? "").matchAll(/export\s*\{([^}]*)\}/g)];
  return lists.some(([, list = ""]) =>
    list.split(",").some(
      (item) =>
        item
          .trim()
          .split(/\s+as\s+/)
          .at(-1) === name,
    ),
  );
}
