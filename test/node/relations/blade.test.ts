import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { phpOf } from "../../../src/engines/parsing/blade.ts";
import { UsesIndex } from "../../../src/engines/relations/uses-index.ts";
import { UsesFinder } from "../../../src/interface/questions/relations/callers.ts";
import { callsIn, openedOf } from "./support.ts";

const HELPERS =
  "<?php\nfunction price($a) {}\nfunction user(): User {}\nclass User {\n  public function name() {}\n}\n";

const callsInTemplate = (template: string) =>
  callsIn({ "helpers.php": HELPERS, "a.blade.php": template }, "a.blade.php");

const PRICE = (line: number) => `price@${line} → helpers.php:2`;
const USER = (line: number) => [`user@${line} → helpers.php:3`, `name@${line} → helpers.php:5`];

describe("calls in a template of Blade", () => {
  it.each([
    ["values", '{{ price(1) }}\n<p a="{{price(2)}}">{!! user()->name() !!}</p>', [PRICE(1), PRICE(2), ...USER(2)]],
    ["conditions", "@if (price(1) > 2)\n@elseif(price(')') )<b>@endif", [PRICE(1), PRICE(2)]],
    [
      "loops",
      "@foreach (price(1) as $a)\n@forelse(price(2) as $b)\n@for ($i = price(3); $i < 2; $i++)",
      [PRICE(1), PRICE(2), PRICE(3)],
    ],
    [
      "arguments of directives",
      "@include('a.b', ['a' => price(1)])@icon('x')\n@can('edit', user()->name())",
      [PRICE(1), ...USER(2)],
    ],
    [
      "blocks of PHP",
      "@php\n$a = price(1);\n@endphp\n<?php price(2); ?><?= price(3) ?>",
      [PRICE(2), PRICE(4), PRICE(4)],
    ],
    [
      "bound attributes of components",
      '<x-card a="b(1)" :size="price(1)" ::c="d(2)"\n  :b="price(3)"/>',
      [PRICE(1), PRICE(2)],
    ],
    [
      "no comments, scripts or text",
      "{{-- {{ price(1) }} --}}\n@{{ price(2) }}\n@verbatim {{ price(3) }} @endverbatim\nprice(4) a@if (price(5))\n@media (price(6))\n",
      [],
    ],
    ["what follows braces that are not closed", "{{ price(1) }}{{ price(2)", [PRICE(1)]],
  ])("are %s", async (_, template, calls) => {
    expect((await callsInTemplate(template)).toSorted()).toEqual(calls.toSorted());
  });

  it("are callers of functions, of methods and of the functions of its scripts", async () => {
    const { index, texts } = await openedOf({
      "helpers.php": HELPERS,
      "open.js": "function openMenu() {}\n",
      "a.blade.php": '<a onclick="openMenu()">{{ price(2) }}</a>\n{{ $user->name() }}\n',
    });
    const uses = new UsesIndex(index, texts);
    const callersOf = async (name: string) => {
      const found = await new UsesFinder(uses, "callers").find(await uses.definitions(name), 1);
      return found.map(({ path, line, certainty }) => `${path}:${line} ${certainty}`);
    };
    expect(await callersOf("price")).toEqual(["a.blade.php:1 certain"]);
    expect(await callersOf("name")).toEqual(["a.blade.php:2 name"]);
    expect(await callersOf("openMenu")).toEqual(["a.blade.php:1 name"]);
  });
});

describe("the PHP of a template", () => {
  const read = (text: string) =>
    String.fromCharCode(
      ...phpOf(
        text,
        Uint16Array.from(text, (c) => c.charCodeAt(0)),
      ),
    );

  it("has the places that it has in the template", () => {
    expect(read("a {{b}}\n@if (c)\n@foreach(d)")).toBe("<?  b; \n    [c]\n;       [d]");
  });

  it("has its lines, and nothing of the text", () => {
    const part = fc.constantFrom(
      "{{",
      "}}",
      "{!!",
      "!!}",
      "{{--",
      "--}}",
      "@if(",
      ")",
      "@php",
      "@endphp",
      "<x-a ",
      ':b="',
      '"',
      "\n",
      "x",
      "(",
      "@",
      "<?php",
      "?>",
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 30 }), (parts) => {
        const text = parts.join("");
        const php = read(text);
        expect(php).toHaveLength(text.length);
        for (let at = 0; at < text.length; at++) {
          expect(php[at] === "\n").toBe(text[at] === "\n");
          if (!/[\s,;[\]<?]/.test(php[at]!)) expect(php[at]).toBe(text[at]);
        }
      }),
    );
  });

  it.each(["{{", "{{--", "@if(", "@if('", "@php ", "@a", '<x-a :b="', "<x-a ", ":a ", "@", "{!! a !!}"])(
    "is found in linear time in many of %s",
    (part) => {
      const text = part.repeat(150_000);
      const units = new Uint16Array(text.length);
      const started = process.cpuUsage();
      phpOf(text, units);
      expect(process.cpuUsage(started).user).toBeLessThan(2_000_000);
    },
  );
});
