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
  keep_bindings: z.array(z.string()).default([]),
  annotations: z.object({ "workers/message": z.string().optional() }).optional(),
  exports: z.record(z.string(), z.unknown()).optional(),
});
export type Metadata = z.infer<typeof Metadata>;

export interface Version {
  metadata: Metadata;
  secrets: Map<string, string>;
  /** The uploaded modules of JavaScript, as one text. */
  code: string;
  /** Names and media types of all uploaded modules, and of source maps. */
  modules: Map<string, string>;
}

/** A Worker, with what its current version has. */
export interface Script extends Version {
  /** Oldest first. */
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
  const empty: Version = {
    metadata: { bindings: [], keep_bindings: [] },
    secrets: new Map(),
    code: "",
    modules: new Map(),
  };
  return { ...empty, versions: new Map(), deployments: [], crons: [] };
}

/**
 * Stores an uploaded version and returns its id. The types in `keep_bindings`, and bindings of type `inherit`, come from the latest
 * version, deployed or not; secrets that are neither sent nor kept are gone.
 */
export async function addVersion(
  script: Script,
  form: FormData,
  check: (binding: z.infer<typeof Binding>, metadata: Metadata) => void,
): Promise<string> {
  const metadata = Metadata.parse(JSON.parse(z.string().parse(form.get("metadata"))));
  for (const binding of metadata.bindings) check(binding, metadata);
  const latest = [...script.versions.values()].at(-1);
  const secrets = new Map(metadata.keep_bindings.includes("secret_text") ? latest?.secrets : []);
  metadata.bindings = metadata.bindings.map((binding) => {
    const { type, name, text } = binding;
    if (type === "secret_text") secrets.set(name, z.string().parse(text));
    if (type !== "inherit") return binding;
    const secret = latest?.secrets.get(name);
    if (secret !== undefined) secrets.set(name, secret);
    const same = latest?.metadata.bindings.find((candidate) => candidate.name === name);
    if (secret === undefined && !same)
      throw new Refusal(400, 10057, `inherit binding '${name}' is invalid: there is no such binding`);
    return same ?? { type: "secret_text", name };
  });
  let code = "";
  const modules = new Map<string, string>();
  for (const [name, value] of form) {
    if (!(value instanceof Blob)) continue;
    modules.set(name, value.type);
    if (value.type.startsWith("application/javascript")) code += await value.text();
  }
  const versionId = randomUUID();
  script.versions.set(versionId, { metadata, secrets, code, modules });
  return versionId;
}

/** The bindings of the current version as the API shows them: without the values of secrets. */
export function shownBindings({ metadata, secrets }: Version): { type: string; name: string }[] {
  const others = metadata.bindings.filter(({ type }) => type !== "secret_text");
  return [...others, ...[...secrets.keys()].map((name) => ({ type: "secret_text", name }))];
}

const DeploymentRequest = z.object({
  strategy: z.literal("percentage"),
  versions: z.array(z.object({ version_id: z.uuid(), percentage: z.number().min(0.01).max(100) })).length(1),
  annotations: z.object({ "workers/message": z.string().max(1000).optional() }).optional(),
});

export function deployVersion(script: Script, body: unknown, isForced: boolean): unknown {
  const { versions, annotations } = DeploymentRequest.parse(body);
  const id = versions[0]?.version_id ?? "";
  const target = script.versions.get(id);
  if (!target) throw new Refusal(400, 10210, `No version with id ${id}`);
  const latest = [...script.versions.keys()].at(-1);
  const changed = [...script.secrets].filter(([name, value]) => target.secrets.get(name) !== value);
  if (!isForced && id !== latest && changed.length > 0) {
    const names = changed.map(([name]) => name).join(", ");
    throw new Refusal(400, 10220, `Cannot roll back to this version. The following secrets have changed: ${names}`);
  }
  activate(script, id, annotations?.["workers/message"]);
  return { id: randomUUID(), strategy: "percentage", versions };
}

/** Makes a version the one that takes the Worker's requests. */
export function activate(script: Script, versionId: string, message?: string): void {
  Object.assign(script, script.versions.get(versionId));
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
