import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { rubyOf } from "../../../src/engines/parsing/erb.ts";
import { callersOf, callsIn } from "./support.ts";

const HELPERS = "module TextHelper\n  def price(a)\n  end\n  def line\n    price 1\n  end\nend\n";

const callsInTemplate = (template: string) =>
  callsIn({ "app/helpers/text_helper.rb": HELPERS, "app/views/a.html.erb": template }, "app/views/a.html.erb");

const PRICE = (line: number) => `price@${line} → app/helpers/text_helper.rb:2 likely`;

describe("calls in a template of ERB", () => {
  it.each([
    ["values", "<p>\n<%= price 1 %>, <%== price(2) -%></p>", [PRICE(2), PRICE(2)]],
    ["statements", "<% price 1 %>\n<%- price 2 -%>\n", [PRICE(1), PRICE(2)]],
    [
      "blocks",
      "<% if a? %>\n<b><%= price 1 %></b>\n<% else %>\n<%= line %>\n<% end %>\n",
      ["a?@1 → unknown", PRICE(2), "line@4 → app/helpers/text_helper.rb:4 likely"],
    ],
    ["what a block binds", "<% [1].each do |line| %>\n<%= price line %>\n<% end %>", ["each@1 → none", PRICE(2)]],
    ["code over several lines", "<%= price(\n  line) %>", [PRICE(1), "line@2 → app/helpers/text_helper.rb:4 likely"]],
    ["no comments and no text", "<%# price 1 %>\n<%% price 2 %>\nprice 3\n<% # price 4\n%>", []],
    ["what follows a tag that is not closed", "<%= price 1 %>\n<% price", [PRICE(1)]],
  ])("are %s", async (_, template, calls) => {
    expect(await callsInTemplate(template)).toEqual(calls);
  });

  it("are callers of helpers, of models and of the functions of its scripts", async () => {
    const files = {
      "app/helpers/text_helper.rb": HELPERS,
      "app/models/story.rb": "class Story\n  def gone?\n  end\nend\n",
      "app/assets/open.js": "function openMenu() {}\n",
      "app/views/a.html.erb": '<% if @story.gone? %>\n<a onclick="openMenu()"><%= price 2 %></a>\n<% end %>\n',
      "app/views/b.html.erb": "<p>price (gone?)</p>\n",
    };
    expect(await callersOf(files, "price")).toEqual([
      "app/helpers/text_helper.rb:5 certain",
      "app/views/a.html.erb:2 likely",
    ]);
    expect(await callersOf(files, "gone?")).toEqual(["app/views/a.html.erb:1 name"]);
    expect(await callersOf(files, "openMenu")).toEqual(["app/views/a.html.erb:2 name"]);
  });

  it("are callers of what the helper of all templates includes", async () => {
    const files = {
      "app/helpers/application_helper.rb": "module ApplicationHelper\n  include Texts\nend\n",
      "lib/texts.rb": "module Texts\n  def price(a)\n  end\nend\n",
      "lib/other.rb": "module Other\n  def price(a)\n  end\nend\n",
      "app/views/a.html.erb": "<%= price 2 %>\n",
    };
    expect(await callersOf(files, "price")).toEqual(["app/views/a.html.erb:1 likely"]);
  });

  it("are known of a helper by name where several helpers have it", async () => {
    const files = {
      "app/helpers/a_helper.rb": "module AHelper\n  def price(a)\n  end\nend\n",
      "app/helpers/b_helper.rb": "module BHelper\n  def price(a)\n  end\nend\n",
      "app/views/a.html.erb": "<%= price 2 %>\n",
    };
    expect(await callersOf(files, "price")).toEqual(["app/views/a.html.erb:1 name"]);
  });
});

describe("the Ruby of a template", () => {
  const read = (text: string) =>
    String.fromCharCode(
      ...rubyOf(
        text,
        Uint16Array.from(text, (c) => c.charCodeAt(0)),
      ),
    );

  it("has the places that it has in the template", () => {
    expect(read("a <%= b -%>\n<%c%>")).toBe("      b ;  \n  c; ");
  });

  it("has its lines, and nothing of the text", () => {
    const part = fc.constantFrom("<%", "<%=", "<%#", "<%%", "-%>", "%>", "\n", "x", " y ", "%", "<");
    fc.assert(
      fc.property(fc.array(part, { maxLength: 30 }), (parts) => {
        const text = parts.join("");
        const ruby = read(text);
        expect(ruby).toHaveLength(text.length);
        for (let at = 0; at < text.length; at++) {
          expect(ruby[at] === "\n").toBe(text[at] === "\n");
          if (!/[\s;]/.test(ruby[at]!)) expect(ruby[at]).toBe(text[at]);
        }
      }),
    );
  });

  it.each(["<%", "<%=", "<%#", "%>", "<%%", "<%= a %>"])("is found in linear time in many of %s", (part) => {
    const text = part.repeat(300_000);
    const units = new Uint16Array(text.length);
    const started = process.cpuUsage();
    rubyOf(text, units);
    expect(process.cpuUsage(started).user).toBeLessThan(2_000_000);
  });
});
