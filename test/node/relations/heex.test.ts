import { expect, it } from "vitest";
import { UsesIndex } from "../../../src/engines/relations/uses-index.ts";
import { UsesFinder } from "../../../src/interface/questions/relations/callers.ts";
import { openedOf } from "./support.ts";

it("components of Phoenix are called by the tags of a template", async () => {
  const { index, texts } = await openedOf({
    "lib/core.ex": "defmodule Core do\n  def button(assigns), do: assigns\nend\n",
    "lib/a.html.heex": "<.button>\n</.button>\n<Core.button />\n<button>\n<p>a.button</p>\n<%= button(1) %>\n",
  });
  const uses = new UsesIndex(index, texts);
  const found = await new UsesFinder(uses, "callers").find(await uses.definitions("button"), 1);
  expect(found.map(({ path, line, certainty }) => `${path}:${line} ${certainty}`)).toEqual([
    "lib/a.html.heex:1 name",
    "lib/a.html.heex:3 name",
    "lib/a.html.heex:6 name",
  ]);
});
