/** How languages of builds, configurations, policies and schemas, and assembly, name a definition. */
import { always, isPlainUse, type LineSyntax, PLAIN } from "./line-syntax.ts";

/** By the id of the language. */
export const BUILDS: Readonly<Record<string, LineSyntax>> = {
  terraform: {
    quotes: "",
    characters: "-",
    kinds: ["object", "variable"],
    isSole: always,
    // `aws_vpc.name.id`, `module.name.id`; `var.name`, and outputs as `module.a.name`.
    isUse: (before, _after, owners) =>
      owners.size === 0
        ? /\bvar\.$|\bmodule\.[\w-]{1,100}(?:\[[^\]]{0,100}\])?\.$/.test(before)
        : [...owners].some((owner) => before.endsWith(`${owner}.`)),
  },
  graphql: {
    quotes: '"',
    kinds: ["struct", "interface", "enum", "union", "type"],
    isSole: always,
    // `...name`, `on Name`, `: [Name!]`, `implements A & Name`, `union A = B | Name`
    isUse: (before) =>
      before.endsWith("...") ||
      (/\bon\s+$/.test(before) && !before.startsWith("directive")) ||
      /(?::\s{0,9}\[{0,9}|^(?:type|interface)\s[^{]*\simplements\s[^{]*|^union\s[^=]*=[\w\s|]*|^\|\s*)$/.test(before),
  },
  protobuf: {
    ...PLAIN,
    kinds: ["struct", "enum"],
    isSole: always,
    // `repeated a.Name field = 1`, `map<string, Name>`, `rpc Get(Name) returns (stream Name)`
    isUse: (before, after) =>
      (/^(?:(?:repeated|optional|required)\s+)?[\w.]*$/.test(before) && /^\s+\w+\s*=/.test(after)) ||
      /\bmap\s*<\s*\w+\s*,\s*[\w.]*$/.test(before) ||
      (/\(\s*(?:stream\s+)?[\w.]*$/.test(before) && /^\s*\)/.test(after)),
  },
  makefile: {
    quotes: "",
    characters: "-./",
    kinds: ["target"],
    isSole: always,
    // `all: name`, `$(MAKE) name`
    isUse: (before) =>
      /^(?!\.PHONY\b|export\b)[^\s=#;"'@][^=#;"']*:(?!=)[^;]*$/.test(before) ||
      (/\bmake\s|\$[({]MAKE[)}]/.test(before) && /\s$/.test(before) && !/\b(?:echo|printf)\b/.test(before)),
  },
  // `price(1)`, `EXEC dbo.pay`, `CALL pay`; `FROM shop.carts`, `REFERENCES carts`
  sql: {
    quotes: "'",
    kinds: ["table", "view", "type"],
    isUse: (before, after) =>
      !/\b(?:create|alter|drop|replace|on)\s+(?:function|procedure|proc|trigger|index)\s+(?:if\s+(?:not\s+)?exists\s+)?["\w.@[\]`]*$/i.test(
        before,
      ) &&
      (/^["\]`]?\s?\(/.test(after) ||
        /\b(?:exec(?:ute)?(?:\s+(?:procedure|function))?|call|perform|from|join|into|update|references|on|only|truncate(?:\s+table)?)\s+["\w.@[\]`]*$/i.test(
          before,
        )),
  },
  // `name = …` and `{ name, … }:` bind it.
  nix: {
    // Within a text, `${name a}` is one.
    quotes: "",
    characters: "-'",
    isUse: (before, after) =>
      !/^\s*=(?!=)|^[^()=;]*\}\s*(?:@\s*\w+\s*)?:/.test(after) &&
      !/\binherit\b[^;]*$/.test(before) &&
      (before.split('"').length % 2 === 1 || before.lastIndexOf("${") > before.lastIndexOf("}")),
  },
  rego: {
    quotes: '"',
    isUse: (before, after) => isPlainUse(before, after) && !(before === "" && /\{\s*$|\bif\b|:=/.test(after)),
  },
  cue: {
    quotes: '"',
    characters: "#",
    kinds: ["struct"],
    isUse: (_before, after) => !/^\s*(?:[?!]\s*)?:/.test(after),
  },
  jsonnet: {
    ...PLAIN,
    isUse: (before, after) => (after.startsWith("(") || before.endsWith(".")) && !/^\s*local\s+$/.test(before),
  },
  just: {
    ...PLAIN,
    characters: "-",
    kinds: ["target"],
    isSole: (before) => /:[^=]*$/.test(before),
    isUse: (before) => /^@?[\w-]+(?:\s[^:]*)?:\s|\bjust\s|^alias\s.*:=/.test(before),
  },
  meson: { ...PLAIN, kinds: ["target"], isUse: (_before, after) => !/^\s*(?:\+?=(?!=)|:)/.test(after) },
  gradle: {
    ...PLAIN,
    kinds: ["target"],
    isUse: (before, after) => isPlainUse(before, after) && !/\btask\s+$/.test(before),
  },
  autoconf: {
    quotes: "",
    kinds: ["macro"],
    isSole: always,
    isUse: (before) => !/(?:DEFUN(?:_ONCE)?|ALIAS|define(?:_default)?|defun(?:_once)?)\([[`]*$/.test(before),
  },
  // `include a::name`, `a::name { 'title': }`, `a::name($x)`, `Class['a::name']`
  puppet: {
    quotes: "",
    kinds: ["class", "type"],
    isUse: (before, after) =>
      /^(?:\s*[({,]|\s*$|['"\]])/.test(after) && !/^\s*(?:class|define|function|plan|type|node)\s+[\w:]*$/.test(before),
  },
  assembly: {
    quotes: '"',
    characters: ".",
    kinds: ["macro"],
    isUse: (before, after) =>
      before !== "" &&
      !after.startsWith(":") &&
      !/^\s*[.%]?(?:globl|global|type|size|extern|weak|hidden|macro)\b|\b(?:ENTRY|END|ENDPROC|SYM_\w+|EXPORT_SYMBOL\w*)\s*\(\s*$/i.test(
        before,
      ),
  },
  grammar: {
    ...PLAIN,
    kinds: ["rule"],
    isSole: always,
    isUse: (before, after) =>
      before !== "" && !(/^(?:%?\w+\s+|[?!%])*$/.test(before) && /^[^:=<]{0,99}(?::|=|<-)/.test(after)),
  },
};
