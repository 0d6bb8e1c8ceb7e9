/** Custom domains of the fake of Cloudflare's API. */
import { randomUUID } from "node:crypto";
import { z } from "zod";
import { Refusal } from "./fake-workers.ts";

export interface Call {
  method: string;
  path: string;
  query: URLSearchParams;
  request: Request;
}

/** Zones of the account, for custom domains. */
const ZONES = ["example.com"];

interface Domain {
  id: string;
  hostname: string;
  service: string;
  environment: "production";
}

/** Like the real API it takes a host name neither from another Worker nor from DNS records. */
export class FakeDomains {
  readonly attached = new Map<string, Domain>();
  /** Host names that have DNS records of their own. */
  readonly dnsRecords = new Set<string>();
  readonly #isWorker: (name: string) => boolean;

  constructor(isWorker: (name: string) => boolean) {
    this.#isWorker = isWorker;
  }

  async route({ method, query, request }: Call, id: string): Promise<unknown> {
    if (method === "GET")
      return [...this.attached.values()].filter(
        ({ hostname, service }) =>
          hostname === (query.get("hostname") ?? hostname) && service === (query.get("service") ?? service),
      );
    if (method === "DELETE") {
      if (!this.attached.delete(id)) throw new Refusal(404, 100114, "Domain not found");
      return {};
    }
    const Body = z.strictObject({ hostname: z.string(), service: z.string(), environment: z.literal("production") });
    const wanted = Body.parse(await request.json());
    const { hostname, service } = wanted;
    if (!this.#isWorker(service)) throw new Refusal(404, 10007, "This Worker does not exist on your account.");
    if (!ZONES.some((zone) => hostname === zone || hostname.endsWith(`.${zone}`)))
      throw new Refusal(400, 100116, `Could not find a zone for hostname '${hostname}'.`);
    if (this.dnsRecords.has(hostname))
      throw new Refusal(409, 100117, `Hostname '${hostname}' already has externally managed DNS records.`);
    const domain = { id: randomUUID(), ...wanted };
    this.attached.set(domain.id, domain);
    return domain;
  }
}
