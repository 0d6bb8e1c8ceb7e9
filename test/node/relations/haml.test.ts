import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { rubyOfLines } from "../../../src/engines/parsing/haml.ts";
import { callersOf, callsIn } from "./support.ts";

const HELPERS = "module TextHelper\n  def price(a)\n  end\n  def line\n  end\nend\n";

const callsInTemplate = (template: string, language: string) =>
  callsIn(
    { "app/helpers/text_helper.rb": HELPERS, [`app/views/a.html.${language}`]: template },
    `app/views/a.html.${language}`,
  );

const PRICE = (line: number) => `price@${line} → app/helpers/text_helper.rb:2 likely`;
const LINE = (line: number) => `line@${line} → app/helpers/text_helper.rb:4 likely`;

describe("calls in a template of HAML", () => {
  it.each([
    ["values, alone and behind a tag", "= price 1\n%p.a#b= price(2)\n%b!= line\n", [PRICE(1), PRICE(2), LINE(3)]],
    ["statements", "- price 1\n- if line\n  %b x\n- else\n  = line\n", [PRICE(1), LINE(2), LINE(5)]],
    ["blocks", "- price(1) do |a, b|\n  %b= line\n", [PRICE(1), LINE(2)]],
    [
      "attributes",
      '.a{class: price(1), data: {\n  b: line }}= line\n%a(href=price(3) title="#{line}")\n',
      [PRICE(1), LINE(2), LINE(2), PRICE(3), LINE(3)],
    ],
    ["code over several lines", "= price 1,\n  line\n%p= line\n", [PRICE(1), LINE(2), LINE(3)]],
    [
      "interpolations and filters",
      "%p a #{price 1}\n:ruby\n  price 3\n:plain\n  price #{line}\n",
      [PRICE(1), PRICE(3), LINE(5)],
    ],
    ["no comments and no text", "-# price 1\n  price 2\n%p price 3\nprice 4\n/ price 5\n", []],
  ])("are %s", async (_, template, calls) => {
    expect(await callsInTemplate(template, "haml")).toEqual(calls);
  });

  it("are callers of helpers", async () => {
    const files = { "app/helpers/text_helper.rb": HELPERS, "app/views/a.html.haml": "%p= price 1\n" };
    expect(await callersOf(files, "price")).toEqual(["app/views/a.html.haml:1 likely"]);
  });
});

describe("calls in a template of Slim", () => {
  it.each([
    ["values, alone and behind a tag", "= price 1\np.a#b = price(2)\n== line\n", [PRICE(1), PRICE(2), LINE(3)]],
    ["statements", "- if line\n  b x\n- else\n  = line\n", [LINE(1), LINE(4)]],
    ["attributes", 'a href=price(1) title="#{line}" class=[line, 2] x\n', [PRICE(1), LINE(1), LINE(1)]],
    ["interpolations and blocks of Ruby", "| a #{price 1}\nruby:\n  price 3\n", [PRICE(1), PRICE(3)]],
    ["no comments and no text", "/ price 1\n  = price 2\np price 3\n| price 4\n", []],
  ])("are %s", async (_, template, calls) => {
    expect(await callsInTemplate(template, "slim")).toEqual(calls);
  });
});

describe("the Ruby of lines", () => {
  it("has the length and the rows of its template, and nothing that the template has not", () => {
    const part = fc.constantFrom(
      "\n",
      "  ",
      "-",
      "= ",
      "%a",
      "{",
      "}",
      "(",
      ")",
      '"',
      "#{",
      "x",
      ",",
      ":ruby",
      "ruby:",
      "do |a|",
      "if ",
      "|",
      " a=b",
    );
    fc.assert(
      fc.property(
        fc.array(part, { maxLength: 60 }),
        fc.constantFrom("haml" as const, "slim" as const),
        (parts, language) => {
          const text = parts.join("");
          const units = Uint16Array.from(text, (character) => character.charCodeAt(0));
          const program = String.fromCharCode(...rubyOfLines(text, units, language));
          expect(program).toHaveLength(text.length);
          for (let i = 0; i < text.length; i++) expect([" ", ";", text[i]]).toContain(program[i]);
        },
      ),
    );
  });

  it.each([
    "{",
    "%a{",
    "%a(",
    "#{",
    '"',
    "- a,\n",
    ":ruby\n",
    " a=",
    "a=(",
    "%a ",
    "  - do |",
    "|",
    "= a#{",
    "%p{a: '",
    "#{\n",
    "%p x\n",
    "a b=(",
    "%a{\n",
    "\n",
  ])("is found in linear time in many of %j", (part) => {
    const text = part.repeat(100_000);
    const units = new Uint16Array(text.length);
    const started = process.cpuUsage();
    rubyOfLines(text, units, "haml");
    rubyOfLines(text, units, "slim");
    expect(process.cpuUsage(started).user).toBeLessThan(4_000_000);
  });
});
