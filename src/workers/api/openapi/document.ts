import * as z from "zod";
import {
  SCOPE_OF_SURFACE,
  CompatErrorBody,
  ERROR_STATUS,
  type ErrorCode,
  RATE_LIMIT_HEADER,
  RATE_REMAINING_HEADER,
  RATE_RESET_HEADER,
  REQUEST_ID_HEADER,
  RETRY_AFTER_HEADER,
  SURFACES,
} from "../../../contract/index.ts";
import { ERROR_TEXTS } from "./error-texts.ts";
import { type JsonSchema, reference, SchemaCollector } from "./schemas.ts";
import type { Route, Success } from "../route.ts";

export interface OpenApiDocument {
  openapi: string;
  info: Record<string, unknown>;
  servers: unknown[];
  tags: { name: string }[];
  paths: Record<string, Record<string, OpenApiOperation>>;
  components: {
    schemas: Record<string, JsonSchema>;
    securitySchemes: Record<string, unknown>;
    headers: Record<string, unknown>;
  };
}

/** A path, query or header parameter. */
interface OpenApiParameter {
  name: string;
  in: string;
  required?: boolean;
  description: string;
  schema: JsonSchema;
}

interface OpenApiOperation {
  operationId: string;
  parameters?: OpenApiParameter[];
  responses: Record<string, unknown>;
  [field: string]: unknown;
}

/** Every error code of a route: its own, and those that follow from credential, surface and body. */
export function errorCodesOf({
  credential,
  surface,
  body,
  bodyErrors = ["INVALID_BODY"],
  errors = [],
}: Route): ErrorCode[] {
  const codes = new Set<ErrorCode>();
  if (body) for (const code of [...bodyErrors, "INPUT_TOO_LARGE" as const]) codes.add(code);
  if (credential !== null) codes.add(credential === "api_key" ? "INVALID_API_KEY" : "UNAUTHORIZED");
  const hasScope = surface !== null && (SCOPE_OF_SURFACE[surface] !== undefined || (surface === "metered" && body));
  if (hasScope) codes.add("FORBIDDEN");
  if (surface !== null) codes.add("RATE_LIMITED");
  for (const code of errors) codes.add(code);
  if (credential !== null) codes.add("UNAVAILABLE");
  codes.add("INTERNAL");
  return [...codes];
}

/** Statuses that tell a client to wait. */
const WAIT_STATUSES = new Set([429, 503]);

const ErrorBody = z
  .object({
    ok: z.literal(false),
    code: z.string().describe("Stable identifier of the failure."),
    error: z.string().describe("For people; may change."),
    details: z.record(z.string(), z.unknown()).optional(),
  })
  .meta({ id: "ErrorBody" });

const RateLimitedBody = z
  .object({ ok: z.literal(false), code: z.literal("RATE_LIMITED"), error: z.string(), retryAfterSec: z.int().min(0) })
  .meta({ id: "RateLimitedBody" });

/** Builds the OpenAPI 3.1 document from the routes and the contract's schemas. */
export function buildDocument(routes: readonly Route[], version: string): OpenApiDocument {
  const schemas = new SchemaCollector();
  const paths: OpenApiDocument["paths"] = {};
  for (const route of routes) (paths[route.path] ??= {})[route.method.toLowerCase()] = describe(route, schemas);
  return {
    openapi: "3.1.1",
    info: {
      title: "Code Context",
      version,
      summary: "Embedding, reranking, hosted indexing and shared index snapshots for code.",
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    servers: [
      {
        url: "{baseUrl}",
        description: "The api itself.",
        variables: { baseUrl: { default: "http://127.0.0.1:8787" } },
      },
      {
        url: "{siteUrl}/api/v1",
        description: "The same routes through the site, with CORS.",
        variables: { siteUrl: { default: "http://127.0.0.1:8788" } },
      },
    ],
    tags: [...new Set(routes.map(({ tag }) => tag))].map((name) => ({ name })),
    paths,
    components: { schemas: schemas.components, securitySchemes: SECURITY_SCHEMES, headers: HEADERS },
  };
}

function describe(route: Route, schemas: SchemaCollector): OpenApiOperation {
  const { id, tag, summary, description, credential, surface, body, aliases } = route;
  const parameters = parametersOf(route, schemas);
  const notes = [
    description,
    surface && budgetText(surface),
    aliases && `Also at ${aliases.map((path) => `\`${path}\``).join(" and ")}.`,
  ];
  return {
    operationId: id,
    tags: [tag],
    summary,
    description: notes.filter(Boolean).join(" "),
    security: credential === null ? [] : [{ [SECURITY_NAMES[credential]]: [] }],
    ...(parameters.length > 0 && { parameters }),
    ...(body && {
      requestBody: {
        required: true,
        content: { "application/json": { schema: schemas.add(body.schema, "input"), example: body.example } },
      },
    }),
    responses: { ...successes(route, schemas), ...failures(route, schemas) },
  };
}

/** A route's parameters: those in its path and headers, and those of its query. */
function parametersOf({ parameters = [], query }: Route, schemas: SchemaCollector): OpenApiParameter[] {
  const { properties = {}, required = [] } = (query ? schemas.add(query, "input") : {}) as {
    properties?: Record<string, JsonSchema & { description?: string }>;
    required?: string[];
  };
  const inQuery = Object.entries(properties).map(([name, { description = "", ...schema }]): OpenApiParameter => {
    const parameter = { name, in: "query", description, schema };
    return required.includes(name) ? Object.assign(parameter, { required: true }) : parameter;
  });
  return [...parameters, ...inQuery];
}

function successes({ responses, surface }: Route, schemas: SchemaCollector): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(responses).map(([status, success]) => [
      status,
      {
        description: success.description,
        headers: { ...headerReferences(surface !== null, false), ...ownHeaders(success) },
        content: {
          ...(success.schema && { "application/json": { schema: schemas.add(success.schema, "output") } }),
          ...mediaTypes(success),
        },
      },
    ]),
  );
}

function ownHeaders({ headers = {} }: Success): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, description]) => [name, { description, schema: { type: "string" } }]),
  );
}

function mediaTypes({ also = {} }: Success): Record<string, unknown> {
  return Object.fromEntries(Object.entries(also).map(([type, schema]) => [type, { schema }]));
}

function failures(route: Route, schemas: SchemaCollector): Record<string, unknown> {
  const byStatus = Map.groupBy(errorCodesOf(route), (code) => ERROR_STATUS[code]);
  const entries = [...byStatus].toSorted(([a], [b]) => a - b);
  return Object.fromEntries(
    entries
      .filter(([status]) => !(status in route.responses))
      .map(([status, codes]) => [
        String(status),
        {
          description: codes.map((code) => `\`${code}\`: ${ERROR_TEXTS[code]}`).join(" "),
          headers: headerReferences(route.surface !== null && status !== 401, WAIT_STATUSES.has(status)),
          content: { "application/json": { schema: errorSchema(route, codes, schemas) } },
        },
      ]),
  );
}

function errorSchema({ errorForm }: Route, codes: readonly ErrorCode[], schemas: SchemaCollector): JsonSchema {
  if (errorForm === "compat") return schemas.add(CompatErrorBody, "output");
  const others = codes.filter((code) => code !== "RATE_LIMITED");
  schemas.add(ErrorBody, "output");
  const body = { allOf: [reference("ErrorBody"), { type: "object", properties: { code: { enum: others } } }] };
  if (others.length === codes.length) return body;
  const limited = schemas.add(RateLimitedBody, "output");
  return others.length === 0 ? limited : { anyOf: [limited, body] };
}

function headerReferences(isRateLimited: boolean, tellsToWait: boolean): Record<string, unknown> {
  const names = [
    REQUEST_ID_HEADER,
    ...(isRateLimited ? [RATE_LIMIT_HEADER, RATE_REMAINING_HEADER, RATE_RESET_HEADER] : []),
    ...(tellsToWait ? [RETRY_AFTER_HEADER] : []),
  ];
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

/** `Budget: 30 requests per hour and tenant.` */
export function budgetText(surface: keyof typeof SURFACES): string {
  const { limit, windowSec, subject } = SURFACES[surface];
  const window = windowSec === 3_600 ? "hour" : windowSec === 60 ? "minute" : `${windowSec} s`;
  return `Budget: ${limit} requests per ${window} and ${subject === "ip" ? "source address" : subject}.`;
}

const SECURITY_NAMES = { api_key: "apiKey", worker_token: "workerToken" } as const;
const SECURITY_SCHEMES = {
  apiKey: { type: "http", scheme: "bearer", description: "A tenant's API key, `cc_live_…`." },
  workerToken: { type: "http", scheme: "bearer", description: "A tenant's worker token, `cc_wrk_…`." },
};

const integer = (description: string) => ({ description, schema: { type: "integer" } });
const HEADERS = {
  [REQUEST_ID_HEADER]: { description: "Identifies the request in the service's log.", schema: { type: "string" } },
  [RATE_LIMIT_HEADER]: integer("Budget of the window."),
  [RATE_REMAINING_HEADER]: integer("Requests left in the window."),
  [RATE_RESET_HEADER]: integer("When the window ends, a Unix time in seconds."),
  [RETRY_AFTER_HEADER]: integer("Seconds to wait."),
};
