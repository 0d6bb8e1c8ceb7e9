import { expect, it } from "vitest";
import { callersOf } from "./support.ts";

it("components of Phoenix are called by the tags of a template", async () => {
  const files = {
    "lib/core.ex": "defmodule Core do\n  def button(assigns), do: assigns\nend\n",
    "lib/a.html.heex": "<.button>\n</.button>\n<Core.button />\n<button>\n<p>a.button</p>\n<%= button(1) %>\n",
  };
  expect(await callersOf(files, "button")).toEqual([
    "lib/a.html.heex:1 name",
    "lib/a.html.heex:3 name",
    "lib/a.html.heex:6 name",
  ]);
});
