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
import { DeployError } from "./errors.ts";

const DeployState = z.object({
  /** 256 bits in base64. Stored because the Workers' secret cannot be read back. */
  encryptionKey: z.string().optional(),
  r2: z.object({ accessKeyId: z.string(), secretAccessKey: z.string() }).optional(),
  /** Id of the Neon project that this deployment created; `destroy` deletes no other. */
  neonProjectId: z.string().optional(),
  /** The project of this deployment's name is being created by it, and its id is not known yet. */
  isNeonProjectUnfinished: z.boolean().optional(),
});
export type DeployState = z.infer<typeof DeployState>;

export class StateFile {
  readonly path: string;

  constructor(environment: string, folder: string = path.join(PROJECT_ROOT, ".deploy")) {
    this.path = path.join(folder, `${environment}.json`);
  }

  /** Reads the state; empty before the first run. Throws `DeployError` if the file is damaged. */
  read(): DeployState {
    if (!existsSync(this.path)) return {};
    const state = DeployState.safeParse(parseJson(readFileSync(this.path, "utf8")));
    if (!state.success) throw new DeployError(`${this.path} is damaged: restore it from a back-up`);
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
