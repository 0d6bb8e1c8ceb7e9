/** Client for the part of Neon's API that a deployment needs. */
import * as z from "zod";
import { pause } from "../../lib/pause.ts";
import { OperatorError } from "../errors.ts";
import { PlatformError } from "./errors.ts";
import { createOnce, type JsonRequest, type Reason, requestJson } from "./http.ts";

export const NEON_API = "https://console.neon.tech/api/v2";

const DATABASE = "neondb";
const ROLE = "neondb_owner";
const POLL_MS = 1_000;
const READY_WITHIN_MS = 120_000;
const MAX_PAGES = 100;

const Project = z.object({ id: z.string(), name: z.string() });
const Projects = z.object({ projects: z.array(Project), pagination: z.object({ cursor: z.string() }).nullish() });
const Organizations = z.object({ organizations: z.array(z.object({ id: z.string(), name: z.string() })) });
const Operations = z.object({ operations: z.array(z.object({ status: z.string() })) });

/** States of an operation that has not ended. */
const UNDER_WAY = new Set(["scheduling", "running", "cancelling"]);

export class Neon {
  readonly #options: { apiUrl: string; apiKey: string; orgId: string | undefined };
  #known: Promise<string | undefined> | undefined;

  constructor(options: { apiUrl: string; apiKey: string; orgId: string | undefined }) {
    this.#options = options;
  }

  /** Id of the project of this name. */
  async findProject(name: string): Promise<string | undefined> {
    const query = new URLSearchParams({ search: name, limit: "100" });
    const orgId = await this.#organization();
    if (orgId !== undefined) query.set("org_id", orgId);
    for (let page = 0; page < MAX_PAGES; page++) {
      const { projects, pagination } = await this.#call(Projects, "GET", `/projects?${query.toString()}`);
      const found = projects.find((project) => project.name === name);
      if (found) return found.id;
      const cursor = pagination?.cursor ?? "";
      // The last page has a cursor, too.
      if (projects.length === 0 || cursor === "" || cursor === query.get("cursor")) break;
      query.set("cursor", cursor);
    }
    return undefined;
  }

  /** Creates a project and returns its id. Its database accepts connections after `waitUntilReady`. */
  async createProject(name: string, region: string | undefined): Promise<string> {
    const orgId = await this.#organization();
    const project = {
      name,
      pg_version: 17,
      branch: { database_name: DATABASE, role_name: ROLE },
      ...(region !== undefined && { region_id: region }),
      ...(orgId !== undefined && { org_id: orgId }),
    };
    return createOnce(
      async () => (await this.#call(z.object({ project: Project }), "POST", "/projects", { project })).project.id,
      () => this.findProject(name),
    );
  }

  /** Waits up to two minutes for the operations of a new project. */
  async waitUntilReady(projectId: string): Promise<void> {
    for (const deadline = Date.now() + READY_WITHIN_MS; Date.now() < deadline; await pause(POLL_MS)) {
      const { operations } = await this.#call(Operations, "GET", `/projects/${projectId}/operations?limit=20`);
      const failed = operations.find(({ status }) => status === "failed" || status === "error");
      if (failed) throw new OperatorError(`Neon could not set up project ${projectId}: look at it in Neon's console`);
      if (!operations.some(({ status }) => UNDER_WAY.has(status))) return;
    }
    throw new OperatorError(`Neon project ${projectId} is still being set up: run the command again in a minute`);
  }

  /** Connection string of the project's default branch, including the password. */
  async connectionString(projectId: string): Promise<string> {
    const query = new URLSearchParams({ database_name: DATABASE, role_name: ROLE });
    const path = `/projects/${projectId}/connection_uri?${query.toString()}`;
    return (await this.#call(z.object({ uri: z.string() }), "GET", path)).uri;
  }

  /** Deletes a project. Returns false if there is none. */
  async deleteProject(projectId: string): Promise<boolean> {
    try {
      await this.#call(z.unknown(), "DELETE", `/projects/${projectId}`);
      return true;
    } catch (error) {
      if (!(error instanceof PlatformError && error.status === 404)) throw error;
      return false;
    }
  }

  /**
   * The organization that owns the project. Neon refuses lists and creations of a personal key that do not name it; the key of an
   * organization lists that one, or (earlier) was refused and needs none. Throws `OperatorError` if there are several to choose from.
   */
  #organization(): Promise<string | undefined> {
    return (this.#known ??= this.#findOrganization());
  }

  async #findOrganization(): Promise<string | undefined> {
    if (this.#options.orgId !== undefined) return this.#options.orgId;
    try {
      const { organizations } = await this.#call(Organizations, "GET", "/users/me/organizations");
      if (organizations.length === 1) return organizations[0]?.id;
      const names = organizations.map(({ id, name }) => `${id} (${name})`).join(", ");
      throw new OperatorError(
        `NEON_API_KEY can access ${organizations.length} organizations: set NEON_ORG_ID to ${names ? `one of ${names}` : "yours"}, or use the key of an organization`,
      );
    } catch (error) {
      if (error instanceof PlatformError && error.status !== 401) return undefined;
      throw error;
    }
  }

  async #call<T>(schema: z.ZodType<T>, method: JsonRequest["method"], path: string, body?: unknown): Promise<T> {
    const { apiUrl, apiKey } = this.#options;
    const isCreation = method === "POST";
    const json = await requestJson({ method, url: `${apiUrl}${path}`, token: apiKey, body, describe, isCreation });
    const result = schema.safeParse(json);
    if (!result.success) throw new OperatorError(`${method} ${path.split("?")[0]}: Neon's answer has an unknown form`);
    return result.data;
  }
}

function describe(json: unknown): Reason | undefined {
  const message = z.object({ message: z.string() }).safeParse(json).data?.message;
  return message === undefined ? undefined : { message, codes: [] };
}
