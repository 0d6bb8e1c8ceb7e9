import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CHECKS } from "../../src/tooling/conformance/checks/index.ts";
import { equal, holds, refused, ServiceUnderTest } from "../../src/tooling/conformance/target.ts";
import { type GitBackend, startGitBackend } from "../support/git-backend.ts";
import { GitRepo } from "../support/git-repo.ts";
import { newTenant, service } from "./support/service.ts";

const repo = new GitRepo();
let git: GitBackend;
let target: ServiceUnderTest;

beforeAll(async () => {
  repo.write("src/main.ts", "export function start(): void {}\n").write("README.md", "# Title\n");
  repo.commit();
  git = await startGitBackend(repo.root);
  const { apiUrl, siteUrl } = service();
  target = new ServiceUnderTest({ apiUrl, siteUrl, gitUrl: git.url("repo"), ...(await newTenant()) });
});
afterAll(async () => {
  await git?.close();
  repo.remove();
});

/** What `npm run conformance` asks a deployed service, asked of this one. */
describe("conformance", () => {
  it.each(CHECKS.map((check) => [check.title, check] as const))("%s", async (_, { needs = [], run }) => {
    for (const need of needs) expect(target.options[need], need).toBeDefined();
    await run(target);
  });

  it("tells a service that differs from one that holds", async () => {
    const answer = await target.call("/no-such-route");
    expect(() => refused(answer, 404, "NOT_FOUND")).not.toThrow();
    expect(() => refused(answer, 404, "NO_SNAPSHOT")).toThrow('"code":"NOT_FOUND"');
    expect(() => equal([1], [2], "the list")).toThrow("the list is [1], not [2]");
    expect(() => holds(false, "it does not")).toThrow("it does not");
    const foreign = new ServiceUnderTest({ apiUrl: git.url("repo"), apiKey: "key" });
    for (const check of CHECKS.filter(({ needs = [] }) => needs.every((need) => need === "apiKey"))) {
      await expect(check.run(foreign), check.title).rejects.toThrow();
    }
  });
});
