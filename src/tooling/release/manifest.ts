/** The package.json of the published package, and the entry of the MCP registry that refers to it. */
import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { PROJECT_ROOT } from "../local/project.ts";

const PACKAGE_NAME = "codectx";
/** What the MCP server is, wherever it is listed. The registry takes up to 100 characters. */
export const MCP_DESCRIPTION =
  "Search, symbols, references and outlines of the repository you work in. No account, no network.";
const DESCRIPTION =
  "Search the code of a repository, locally or on a Code Context service: command line and typed client.";

/** Files of the package besides package.json, README.md and LICENSE, which npm adds by itself. */
const FILES = ["*.js", "client", "grammars", "CHANGELOG.md", "THIRD_PARTY_NOTICES.md"];

/** Version and licence, as the repository's own package.json has them. */
export function projectManifest(): { version: string; license: string } {
  return JSON.parse(readFileSync(path.join(PROJECT_ROOT, "package.json"), "utf8")) as {
    version: string;
    license: string;
  };
}

/** Name in the MCP registry. Whoever owns the repository on GitHub owns the names below `io.github.<owner>/`. */
export function mcpName(repository: string): string {
  return `io.github.${repository.split("/")[0] ?? ""}/${PACKAGE_NAME}`;
}

/**
 * @param repository `owner/name` on GitHub. npm verifies it against the provenance of a published package; without it the
 *   package can be built and tried, but not published.
 */
export function packageManifest(repository: string | undefined): Record<string, unknown> {
  const { version, license } = projectManifest();
  const url = `https://github.com/${repository}`;
  return {
    name: PACKAGE_NAME,
    version,
    description: DESCRIPTION,
    keywords: ["code-search", "code-context", "embeddings", "mcp", "mcp-server", "cli"],
    license,
    ...(repository !== undefined && {
      homepage: `${url}#readme`,
      bugs: `${url}/issues`,
      repository: { type: "git", url: `git+${url}.git` },
      mcpName: mcpName(repository),
    }),
    type: "commonjs",
    bin: { codectx: "codectx.js" },
    exports: {
      "./client": { types: "./client/index.d.ts", default: "./client/index.js" },
      "./package.json": "./package.json",
    },
    files: FILES,
    engines: { node: ">=22.16" },
  };
}

/** The manuals of the command and the client, with links that work outside the repository. */
export async function packageReadme(repository: string | undefined): Promise<string> {
  const pages = ["cli.md", "client.md"].map((page) => readFile(path.join(PROJECT_ROOT, "docs", page), "utf8"));
  const text = (await Promise.all(pages)).join("\n");
  const folder = repository === undefined ? undefined : `https://github.com/${repository}/blob/main/docs/`;
  // `[text](page.md)`; without an address to link to only the text stays.
  return text.replaceAll(/\[([^\]\n]*)\]\((?!https?:|#)([^)\s]+)\)/g, (_, label: string, target: string) =>
    folder === undefined ? label : `[${label}](${new URL(target, folder).href})`,
  );
}

/** Makes the files of `client/` ES modules, and leads resolvers there that do not know `exports`. */
export const CLIENT_MANIFEST = { type: "module", main: "./index.js", types: "./index.d.ts", sideEffects: false };

/** `server.json` of the MCP registry: the local server over stdio, and a team's service over HTTP with a key. */
export function serverEntry(repository: string): Record<string, unknown> {
  const { version } = projectManifest();
  const url = `https://github.com/${repository}`;
  return {
    $schema: "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
    name: mcpName(repository),
    title: "Code Context",
    description: MCP_DESCRIPTION,
    websiteUrl: `${url}#readme`,
    repository: { url, source: "github" },
    version,
    packages: [
      {
        registryType: "npm",
        identifier: PACKAGE_NAME,
        version,
        runtimeHint: "npx",
        packageArguments: [{ type: "positional", value: "mcp" }],
        transport: { type: "stdio" },
      },
    ],
    remotes: [
      {
        type: "streamable-http",
        url: "https://{host}/mcp",
        variables: { host: { description: "Host name of your Code Context service", isRequired: true } },
        headers: [
          {
            name: "Authorization",
            description: "Bearer, followed by an API key of the service",
            value: "Bearer {api_key}",
            isRequired: true,
            isSecret: true,
            variables: { api_key: { description: "API key", isRequired: true, isSecret: true } },
          },
        ],
      },
    ],
  };
}
