/** The files of `docs/` that are pages of the site, in navigation order. */
interface PageEntry {
  file: string;
  /** Name in the navigation. */
  label: string;
  group: string;
  /** One sentence, for lists and `llms.txt`. */
  description: string;
}

export const PAGES: readonly PageEntry[] = [
  { file: "README.md", label: "Overview", group: "", description: "All pages of the documentation." },
  {
    file: "start.md",
    label: "Start",
    group: "Use it",
    description: "From nothing to search in an indexed repository, in five minutes.",
  },
  {
    file: "tasks.md",
    label: "How do I …?",
    group: "Use it",
    description: "Private repositories, webhooks, teammates, API keys, agents: short answers.",
  },
  {
    file: "cli.md",
    label: "Command line",
    group: "Use it",
    description: "codectx: commands, pipelines, settings and exit codes.",
  },
  {
    file: "search.md",
    label: "Search",
    group: "Use it",
    description: "How to ask: queries, filters, definitions, uses, files.",
  },
  {
    file: "mcp.md",
    label: "MCP",
    group: "Use it",
    description: "The tools for coding agents, with the settings of each client.",
  },
  {
    file: "dashboard.md",
    label: "Dashboard",
    group: "Use it",
    description: "Sign-in, repositories, hooks, keys, team and usage.",
  },
  { file: "http.md", label: "HTTP API", group: "Reference", description: "Every route, field, status and header." },
  {
    file: "clients.md",
    label: "Existing clients",
    group: "Reference",
    description: "OpenAI, LangChain and other clients that work with a base URL and a key.",
  },
  { file: "client.md", label: "Client", group: "Reference", description: "The typed client, codectx/client." },
  {
    file: "limits.md",
    label: "Limits",
    group: "Reference",
    description: "Rate limits, quotas and sizes, with the error of each.",
  },
  {
    file: "snapshot-format.md",
    label: "Snapshots",
    group: "Reference",
    description: "The file format of snapshots, and how they are published.",
  },
  {
    file: "glossary.md",
    label: "Glossary",
    group: "Reference",
    description: "The terms that the code and these pages use.",
  },
  {
    file: "self-hosting.md",
    label: "Self-hosting",
    group: "Run it",
    description: "Run the service yourself: on one machine, or on Cloudflare and Neon.",
  },
  {
    file: "operations.md",
    label: "Operations",
    group: "Run it",
    description: "Variables, metrics, alerts, back-up, key rotation, erasure.",
  },
  {
    file: "security.md",
    label: "Security",
    group: "Run it",
    description: "Who can do what, what is stored, and how secrets are kept.",
  },
  {
    file: "scale.md",
    label: "Scale",
    group: "Run it",
    description: "What a million repositories would take, and which limits come first.",
  },
  { file: "architecture.md", label: "Architecture", group: "Inside", description: "How the parts fit together." },
  {
    file: "ranking.md",
    label: "How search works",
    group: "Inside",
    description: "Ranking and index: what was measured, and how to repeat it.",
  },
  {
    file: "relations.md",
    label: "Relations",
    group: "Inside",
    description: "What callers and callees follow, and how often they are right.",
  },
  {
    file: "memory.md",
    label: "Memory",
    group: "Inside",
    description: "What parsing takes in an isolate, and what V8 adds.",
  },
];
