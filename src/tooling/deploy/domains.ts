/** The step that gives the Workers their custom domains. */
import type { DeployContext, Step } from "./context.ts";
import { OperatorError } from "../errors.ts";
import { PlatformError } from "./errors.ts";
import { workerConfig } from "./workers.ts";

const WORKERS = ["api", "site"] as const;

/**
 * Attaches and detaches custom domains. wrangler could, too, but without a terminal it takes a host name away from another Worker or
 * from DNS records without asking.
 */
export const customDomains: Step = {
  title: "custom domains",
  plan: async (context) => {
    const { attach, detach } = await pendingDomains(context);
    const todo = [
      ...attach.map(({ hostname, service }) => `attach ${hostname} to ${service}`),
      ...detach.map(({ hostname }) => `detach ${hostname}`),
    ];
    return todo.length === 0 ? undefined : todo.join(", ");
  },
  apply: async (context) => {
    const { attach, detach } = await pendingDomains(context);
    for (const { hostname, service } of attach) {
      await context.cloudflare.attachDomain(hostname, service).catch((error: unknown) => {
        if (!(error instanceof PlatformError)) throw error;
        throw new OperatorError(
          `${hostname} cannot be attached (${error.message}): its zone must be in this account, and the name must have no DNS records`,
        );
      });
    }
    for (const { id } of detach) await context.cloudflare.detachDomain(id);
  },
};

interface Pending {
  attach: { hostname: string; service: string }[];
  detach: { id: string; hostname: string }[];
}

async function pendingDomains({ cloudflare, settings, domains }: DeployContext): Promise<Pending> {
  const pending: Pending = { attach: [], detach: [] };
  for (const worker of WORKERS) {
    const service = workerConfig(worker, settings.environment).name;
    const hostname = domains[worker];
    if (settings.unset.has(`${worker.toUpperCase()}_DOMAIN`)) {
      pending.detach.push(...(await cloudflare.domains({ service })));
    } else if (hostname !== undefined) {
      const [attached] = await cloudflare.domains({ hostname });
      if (!attached) pending.attach.push({ hostname, service });
      else if (attached.service !== service) {
        throw new OperatorError(`${hostname} belongs to the Worker ${attached.service}: detach it there first`);
      }
    }
  }
  return pending;
}
