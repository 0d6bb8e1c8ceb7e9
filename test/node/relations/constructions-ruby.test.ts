import { describe, expect, it } from "vitest";
import { CalleesFinder } from "../../../src/interface/questions/relations/callees.ts";
import { UsesFinder } from "../../../src/interface/questions/relations/callers.ts";
import { indexOf } from "./support.ts";

const FILES = {
  "base.rb": [
    "class Base",
    "  def initialize(name)",
    "    setup",
    "  end",
    "  def setup; end",
    "  def self.open = new('a')",
    "end",
    "class Own < Base",
    "  def initialize",
    "    super('own')",
    "  end",
    "end",
    "class Plain < Base; end",
    "class Below < Plain; end",
    "module Counted",
    "  def initialize; end",
    "end",
    "class Mixed",
    "  include Counted",
    "end",
    "class Bare; end",
  ].join("\n"),
  "more.rb": "class Base\n  def more; end\nend\n",
  "main.rb": [
    "def run",
    "  Base.new('b')",
    "  Own.new",
    "  Plain.new('p')",
    "  Below.new('q')",
    "  Mixed.new",
    "  Bare.new",
    "  other.new",
    "end",
  ].join("\n"),
  "other.rb": "class Far\n  def initialize; end\nend\nmodule Deep\n  class Base; end\n  def self.go = Base.new\nend\n",
};

async function callersAt(path: string, line: number, depth = 1): Promise<string[]> {
  const files = await indexOf(FILES);
  const own = (await files.definitions("initialize")).filter((each) => each.path === path && each.startLine === line);
  const uses = await new UsesFinder(files, "callers").find(own, depth);
  return uses.map((use) => `${use.path}:${use.line} ${use.certainty} → ${use.target?.path}:${use.target?.line}`).sort();
}

describe("constructions in Ruby", () => {
  it("call the initialize of their class, also that which it inherits or includes", async () => {
    expect(await callersAt("base.rb", 2)).toEqual([
      "base.rb:10 certain → base.rb:2",
      "base.rb:6 likely → base.rb:2",
      "main.rb:2 certain → base.rb:2",
      "main.rb:4 certain → base.rb:2",
      "main.rb:5 certain → base.rb:2",
    ]);
    expect(await callersAt("base.rb", 9)).toEqual(["main.rb:3 certain → base.rb:9"]);
    expect(await callersAt("base.rb", 16)).toEqual(["main.rb:6 certain → base.rb:16"]);
    expect(await callersAt("other.rb", 2)).toEqual([]);
  });

  it("lead to the class and to its initialize", async () => {
    const files = await indexOf(FILES);
    const run = await files.described(await files.definitions("run"));
    const uses = await new CalleesFinder(files).find(run, 2);
    expect(uses.map((use) => `${use.line} ${use.certainty} ${use.distance} → ${use.target?.qualifiedName}`)).toEqual(
      expect.arrayContaining([
        "2 certain 1 → Base",
        "2 certain 1 → Base#initialize",
        "5 certain 1 → Below",
        "5 certain 1 → Base#initialize",
        "7 certain 1 → Bare",
        "3 certain 2 → Base#setup",
      ]),
    );
    expect(uses.filter(({ line, distance }) => line === 7 && distance === 1)).toHaveLength(1);
  });
});
