import * as z from "zod";
import { HealthResponse } from "../../../contract/index.ts";
import type { Operation } from "../types.ts";

export const serviceOperations: Operation[] = [
  {
    id: "health",
    method: "GET",
    path: "/healthz",
    tag: "Service",
    summary: "Health of the service",
    description:
      "Public. 200 with `ok` false means degraded, but up. Dependencies are probed in the background every 30 s; a request triggers nothing.",
    credential: null,
    surface: "healthz",
    responses: {
      200: { description: "Up; `ok` and `checks` tell how well.", schema: HealthResponse },
      503: { description: "Starting up or shutting down.", schema: HealthResponse },
    },
  },
  {
    id: "openapi",
    method: "GET",
    path: "/openapi.json",
    tag: "Service",
    summary: "This description",
    credential: null,
    surface: null,
    responses: { 200: { description: "An OpenAPI 3.1 document.", schema: z.record(z.string(), z.unknown()) } },
  },
];
