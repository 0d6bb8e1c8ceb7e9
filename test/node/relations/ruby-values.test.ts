import { expect, it } from "vitest";
import { callsIn } from "./support.ts";

const ITEM = "class Item\n  def go; end\n  def self.make(a) = Item.new\nend\nclass Other\n  def go; end\nend\n";

/** What `go` leads to on each line of a method. */
async function goIn(lines: readonly string[]): Promise<Record<string, string>> {
  const text = ["class Run", "def run(flag, arg, item)", ...lines, "end", "end"].join("\n");
  const calls = await callsIn({ "item.rb": ITEM, "run.rb": text }, "run.rb");
  const found: Record<string, string> = {};
  for (const call of calls) {
    const [, line, target] = /^go@(\d+) → (.*)$/.exec(call) ?? [];
    if (line !== undefined) found[text.split("\n")[Number(line) - 1] ?? ""] = target ?? "";
  }
  return found;
}

it("values of branches of Ruby agree", async () => {
  const known = [
    "a = flag ? Item.new : Item.new; a.go",
    "b = if flag then Item.new else Item.new end; b.go",
    "c = case flag when 1 then Item.new else raise 'none' end; c.go",
    "d = begin Item.new rescue nil end; d.go",
    "e = nil || Item.new; e.go",
    "(flag && Item.new).go",
    "f, g = Item.new, Other.new; f.go",
    "@h ||= begin; flag; Item.new; end; @h.go",
    "Item.new.tap { |t| t.go }",
    "i = unless flag then Item.new end; i.go",
  ];
  const not = [
    "j = flag ? Item.new : Other.new; j.go",
    "k = begin Item.new rescue Other.new end; k.go",
    "l, *m = Item.new, Other.new; l.go",
    "Item.new.each { |t| t.go }",
    "n = flag == Item.new; n.go",
  ];
  expect(await goIn([...known, ...not, "x = flag ? Item.new : arg; x.go"])).toEqual({
    ...Object.fromEntries(known.map((line) => [line, "item.rb:2"])),
    ...Object.fromEntries(not.map((line) => [line, "unknown"])),
    "x = flag ? Item.new : arg; x.go": "item.rb:2 likely",
  });
});

it("conditions of Ruby state the class of a variable", async () => {
  const lines = [
    "arg.go if arg.is_a?(Item)",
    "if (arg.kind_of?(Item)) && flag then arg.go; end",
    "arg.is_a?(Item) && arg.go",
    "case arg when Item then arg.go # item",
    "when Other then arg.go # other",
    "when String, Item then arg.go # several",
    "else arg.go # else",
    "end",
    "arg.go unless arg.is_a?(Item)",
    "arg.go if arg.is_a?(Item) || flag",
    "unbound.go if unbound.is_a?(Item)",
  ];
  const found = await goIn(lines);
  expect(Object.entries(found).map(([line, target]) => `${target}: ${line}`)).toEqual([
    "item.rb:2: arg.go if arg.is_a?(Item)",
    "item.rb:2: if (arg.kind_of?(Item)) && flag then arg.go; end",
    "item.rb:2: arg.is_a?(Item) && arg.go",
    "item.rb:2: case arg when Item then arg.go # item",
    "item.rb:6: when Other then arg.go # other",
    "unknown: when String, Item then arg.go # several",
    "unknown: else arg.go # else",
    "unknown: arg.go unless arg.is_a?(Item)",
    "unknown: arg.go if arg.is_a?(Item) || flag",
    "unknown: unbound.go if unbound.is_a?(Item)",
  ]);
});
