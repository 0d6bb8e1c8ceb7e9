/** Code of a team's repositories, asked of the api Worker. */
import type { ErrorCode } from "../../../contract/errors.ts";
import type { DashboardAnswers, DashboardSearchApi } from "../../api/dashboard-search.ts";
import { type DashboardContext, tenantPath } from "./context.ts";
import { DashboardError, type DashboardErrorCode } from "./errors.ts";

const CODES: Partial<Record<ErrorCode, DashboardErrorCode>> = {
  INVALID_BODY: "INVALID_BODY",
  INVALID_SELECTOR: "INVALID_BODY",
  UNAVAILABLE: "UNAVAILABLE",
};

/** Asks a question. Throws `DashboardError` if it is refused or nothing is found. */
export async function askCode<N extends keyof DashboardAnswers>(
  c: DashboardContext,
  question: N,
  request: Record<string, unknown>,
): Promise<DashboardAnswers[N]> {
  const service = c.env.SEARCH as unknown as DashboardSearchApi;
  const answer = await service.ask(c.get("membership").tenantId, question, request);
  if (answer.ok) return answer;
  throw new DashboardError(CODES[answer.code] ?? "NOT_FOUND", answer.error);
}

/** The same, with the error as a value. */
export async function tryCode<N extends keyof DashboardAnswers>(
  c: DashboardContext,
  question: N,
  request: Record<string, unknown>,
): Promise<DashboardAnswers[N] | DashboardError> {
  try {
    return await askCode(c, question, request);
  } catch (error) {
    if (error instanceof DashboardError) return error;
    throw error;
  }
}

/** A place in a team's code. */
export interface Place {
  repo: string | null;
  workspaceId: string;
  path: string;
  ref?: string | undefined;
  startLine?: number | undefined;
  endLine?: number | undefined;
}

/** Path of the page that shows a file or folder. */
export function codeUrl(c: DashboardContext, { repo, workspaceId, path, ref, startLine, endLine }: Place): string {
  const whole = [...(repo ?? workspaceId).split("/"), ...path.split("/")].filter((part) => part !== "");
  const query = ref === undefined ? "" : `?${new URLSearchParams({ ref }).toString()}`;
  const lines = endLine === undefined || endLine === startLine ? "" : `-L${endLine}`;
  const anchor = startLine === undefined ? "" : `#L${startLine}${lines}`;
  return `${tenantPath(c, "code")}/${whole.map(encodeURIComponent).join("/")}${query}${anchor}`;
}

/** Address of a file at the host that the repository is cloned from; undefined for unknown hosts. */
export function hostUrl(repo: string | null, gitSha: string, path: string): string | undefined {
  if (repo === null) return undefined;
  const file = path.split("/").map(encodeURIComponent).join("/");
  const urls: Record<string, string> = {
    "github.com": `https://${repo}/blob/${gitSha}/${file}`,
    "gitlab.com": `https://${repo}/-/blob/${gitSha}/${file}`,
    "bitbucket.org": `https://${repo}/src/${gitSha}/${file}`,
  };
  return urls[repo.split("/")[0] ?? ""];
}
