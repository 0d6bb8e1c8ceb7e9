import { expect, it } from "vitest";
import { listFileRevisions } from "../../../src/service/dashboard/file-history.ts";
import { listKeptRevisions } from "../../../src/service/dashboard/repositories.ts";
import { git, givenRepository, pipeline, repo } from "../../support/given-repository.ts";

givenRepository();

const index = (ref?: string) =>
  pipeline.run({ url: git.url("repo"), ...(ref !== undefined && { ref, options: { current: false } }) });

it("tells which of the revisions that are kept changed a file, and how", async () => {
  const commits: string[] = [];
  const commit = (files: Record<string, string>, removed: string[] = []) => {
    repo.files(files);
    for (const path of removed) repo.delete(path);
    commits.push(repo.commit());
  };
  commit({ "a.ts": "export const a = 1;\n", "b.ts": "export const b = 1;\n" });
  await index();
  commit({ "a.ts": "export const a = 2;\n" });
  await index();
  repo.branch("feature").checkout("feature");
  commit({ "b.ts": "export const b = 3;\n", "new.ts": "export const n = 3;\n" });
  await index("feature");
  repo.checkout("main");
  commit({}, ["b.ts"]);
  await index();
  const { db, workspaceId } = pipeline;
  const kept = await listKeptRevisions(db, workspaceId);
  expect(kept.map(({ gitSha }) => gitSha)).toEqual(commits.toReversed());
  const changes = async (path: string) =>
    (await listFileRevisions(db, workspaceId, path, kept))?.map(({ change }) => change).toReversed();
  expect(await changes("a.ts")).toEqual(["oldest", "changed", "same", "same"]);
  expect(await changes("b.ts")).toEqual(["oldest", "same", "changed", "removed"]);
  expect(await changes("new.ts")).toEqual(["absent", "absent", "added", "absent"]);
  expect(await changes("nowhere.ts")).toBeUndefined();
  expect(await listFileRevisions(db, workspaceId, "a.ts", [])).toBeUndefined();
});
