/**
 * State of a deployment between runs: values that the platforms return only once or not at all. Stored in
 * `.deploy/<environment>.json`, readable by the owner only and ignored by git. A value is written before it is used, so that a
 * killed run loses none.
 */
import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import path from "node:path";
import * as z from "zod";
import { PROJECT_ROOT } from "../local/project.ts";
import { parseJson, writePrivateJson } from "../local/stack/local-secrets.ts";
import { OperatorError } from "../errors.ts";

/** Increment when the format changes, and add the change to `upgraded`. */
const VERSION = 2;

const DeployState = z.object({
  version: z.literal(VERSION).default(VERSION),
  /** The Cloudflare account of the deployment. */
  accountId: z.string().optional(),
  /** 256 bits in base64. Stored because the Workers' secret cannot be read back. */
  encryptionKey: z.string().optional(),
  /** Key of the snapshot bucket. `isGiven` is false for a token that a deployment created, and unknown before version 2. */
  r2: z.object({ accessKeyId: z.string(), secretAccessKey: z.string(), isGiven: z.boolean().optional() }).optional(),
  /** A database that was given with `DATABASE_URL`; used in place of a Neon project. */
  databaseUrl: z.string().optional(),
  /** Id of the Neon project that this deployment created; `destroy` deletes no other. */
  neonProjectId: z.string().optional(),
  /** The project of this deployment's name is being created by it, and its id is not known yet. */
  isNeonProjectUnfinished: z.boolean().optional(),
  /** Variables of the last deployment. Used if the Workers, which have them too, are gone. */
  vars: z.record(z.string(), z.string()).optional(),
  /** Names of the Workers' secrets that were given, and whose values only the Workers have. */
  secrets: z.array(z.string()).optional(),
  /** Custom domains. */
  domains: z.object({ api: z.string().optional(), site: z.string().optional() }).optional(),
  /** Name of the release that is being deployed; absent after it was found healthy. */
  release: z.string().optional(),
});
export type DeployState = z.infer<typeof DeployState>;

export class StateFile {
  readonly path: string;

  constructor(environment: string, folder: string = path.join(PROJECT_ROOT, ".deploy")) {
    this.path = path.join(folder, `${environment}.json`);
  }

  /** Reads the state; empty before the first run. Throws `OperatorError` if the file is damaged or of a later version. */
  read(): DeployState {
    if (!existsSync(this.path)) return { version: VERSION };
    const json = parseJson(readFileSync(this.path, "utf8"));
    const written = z.looseObject({ version: z.int().default(1) }).safeParse(json);
    if (written.success && written.data.version > VERSION) {
      throw new OperatorError(`${this.path} was written by a later version of the service: update this checkout`);
    }
    const state = DeployState.safeParse(upgraded(written.data));
    if (!state.success) throw new OperatorError(`${this.path} is damaged: restore it from a back-up`);
    return state.data;
  }

  /** Merges `change` into the file; undefined removes a value. */
  update(change: Partial<DeployState>): DeployState {
    const state = { ...this.read(), ...change };
    mkdirSync(path.dirname(this.path), { recursive: true, mode: 0o700 });
    writePrivateJson(this.path, state);
    return state;
  }

  remove(): void {
    rmSync(this.path, { force: true });
  }
}

/** Version 1 had neither a version nor settings; all else is as it was. */
function upgraded(state: Record<string, unknown> | undefined): unknown {
  return state && { ...state, version: VERSION };
}
