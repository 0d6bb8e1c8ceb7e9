import { SLASHES, HASH, DASHES, type DeclarationRules } from "./rules.ts";

/** Functions of languages with the syntax of C, whose types come first. */
const OF_C: DeclarationRules["patterns"][number] = [
  /^(?!(?:else|return|if|while|for|switch|case|using|typedef|goto|delete|new|throw)\b)(?:[\w:]+(?:<[^<>]{0,80}>)?[\s*&]+){1,5}(\w+)\s*\([^;]*$/,
  "function",
];

/** Compiled languages. By the id of the language. */
export const COMPILED: Readonly<Record<string, DeclarationRules>> = {
  crystal: {
    ...HASH,
    patterns: [
      [/^\s*(?:private\s+)?(?:abstract\s+)?(?:class|struct)\s+([\w:]+)/, "class"],
      [/^\s*(?:private\s+)?(?:module|lib)\s+([\w:]+)/, "module"],
      [/^\s*(?:private\s+)?enum\s+([\w:]+)/, "enum"],
      [/^\s*(?:private\s+)?macro\s+(\w+)/, "macro"],
      [/^\s*(?:(?:private|protected|abstract)\s+)*(?:def|fun)\s+(?:self\.)?([\w=?!<>+\-*/%[\]]+)/, "function"],
      [/^\s*([A-Z][A-Z0-9_]*)\s*=/, "constant"],
    ],
  },
  nim: {
    ...HASH,
    block: [/(?:^|\s)#\[/, "]#"],
    patterns: [
      [/^\s*(?:proc|func|method|iterator|converter)\s+`?([^\s`*([{:]+)/, "function"],
      [/^\s*(?:template|macro)\s+`?([^\s`*([{:]+)/, "macro"],
      [
        /^\s*(?:type\s+)?`?([A-Z]\w*)`?\*?\s*(?:\[[^\]]*\])?\s*(?:\{\.[^}]*\.\})?\s*=\s*(?:ref\s+|ptr\s+)?(?:object|enum|tuple|distinct|concept)\b/,
        "struct",
      ],
    ],
  },
  odin: {
    ...SLASHES,
    patterns: [
      [/^(\w+)\s*::\s*(?:#\w+\s+)*(?:"[^"\n]*"\s+)?proc\b/, "function"],
      [/^(\w+)\s*::\s*(?:distinct\s+)?(?:struct|union|bit_set)\b/, "struct"],
      [/^(\w+)\s*::\s*enum\b/, "enum"],
      [/^(\w+)\s*::/, "constant"],
    ],
  },
  fortran: {
    comment: /^(?:[cC*]|\s*!)/,
    separator: "%",
    patterns: [
      [/^\s*module\s+(?!procedure\b|subroutine\b|function\b)(\w+)/i, "module"],
      [/^\s*program\s+(\w+)/i, "function"],
      [/^\s*(?!end)(?:[\w*()=,][\w*()=, ]{0,99}\s)?(?:subroutine|function)\s+(\w+)/i, "function"],
      [/^\s*type\s*(?:,[^:]*)?(?:::\s*|\s)(?!is\b|\()(\w+)\s*$/i, "struct"],
      [/^\s*interface\s+(\w+)/i, "interface"],
    ],
  },
  pascal: {
    comment: /^\s*(?:\/\/|\{|\(\*)/,
    block: [/(?:^|\s)\(\*/, "*)"],
    patterns: [
      [/^\s*(?:class\s+)?(?:procedure|function|constructor|destructor|operator)\s+([\w.]+)/i, "function"],
      [/^\s*(\w+)(?:<[^<>]{0,80}>)?\s*=\s*(?:packed\s+)?(?:class|object|record)\b(?!\s+of\b)/i, "class"],
      [/^\s*(\w+)\s*=\s*(?:interface|dispinterface)\b/i, "interface"],
    ],
  },
  ada: {
    comment: DASHES,
    patterns: [
      [/^\s*(?:private\s+)?package\s+(?:body\s+)?([\w.]+)/i, "module"],
      [/^\s*(?:overriding\s+|not\s+)*(?:procedure|function|entry)\s+([\w."]+)/i, "function"],
      [/^\s*(?:task|protected)\s+(?:type\s+|body\s+)?(\w+)/i, "class"],
      [/^\s*(?:sub)?type\s+(\w+)/i, "type"],
    ],
  },
  vb: {
    comment: /^\s*'/,
    patterns: [
      [/^\s*Namespace\s+([\w.]+)/i, "namespace"],
      [/^\s*(?:\w+\s+){0,4}?(?:Class|Structure|Module)\s+(\w+)/i, "class"],
      [/^\s*(?:\w+\s+){0,4}?Interface\s+(\w+)/i, "interface"],
      [/^\s*(?:\w+\s+){0,4}?Enum\s+(\w+)/i, "enum"],
      [/^\s*(?!End\b|Exit\b)(?:\w+\s+){0,6}?(?:Sub|Function|Property(?:\s+(?:Get|Let|Set))?)\s+(\w+)/i, "function"],
    ],
  },
  "objective-c": {
    ...SLASHES,
    section: { kind: "class", end: /^@end\b/ },
    patterns: [
      [/^@(?:interface|implementation)\s+(\w+)/, "class"],
      [/^@protocol\s+(\w+)(?!.*;)/, "interface"],
      [/^[-+]\s*\([^)]*\)\s*(\w+)/, "function"],
      // Files of MATLAB have the same ending.
      [/^\s*function\s+(?:[\w[\], ]{0,200}=\s*)?([\w.]+)/, "function"],
      [/^classdef\s+(?:\([^)]*\)\s*)?(\w+)/, "class"],
      OF_C,
    ],
  },
  d: {
    ...SLASHES,
    patterns: [
      [/^\s*(?:\w+\s+){0,4}?(?:class|struct|union|interface|template)\s+(\w+)/, "class"],
      [/^\s*(?:\w+\s+){0,3}?enum\s+(\w+)/, "enum"],
      [
        /^\s{0,8}(?!(?:else|return|if|while|for|foreach|switch|case|import|alias|throw|new|assert|mixin)\b)(?:[\w.!()[\]*]+\s+){1,5}(\w+)\s*\([^;]*$/,
        "function",
      ],
    ],
  },
  solidity: {
    ...SLASHES,
    patterns: [
      [/^\s*(?:abstract\s+)?contract\s+(\w+)/, "class"],
      [/^\s*interface\s+(\w+)/, "interface"],
      [/^\s*library\s+(\w+)/, "module"],
      [/^\s*struct\s+(\w+)/, "struct"],
      [/^\s*enum\s+(\w+)/, "enum"],
      [/^\s*(?:function|modifier|event|error)\s+(\w+)/, "function"],
      [/^\s*(constructor|receive|fallback)\s*\(/, "function"],
      [/^\s*type\s+(\w+)\s+is\b/, "type"],
    ],
  },
  verilog: {
    ...SLASHES,
    patterns: [
      [/^\s*(?:virtual\s+)?(?:module|macromodule|program|checker)\s+(?:automatic\s+|static\s+)?(\w+)/, "module"],
      [/^\s*(?:virtual\s+)?class\s+(\w+)/, "class"],
      [/^\s*interface\s+(?:class\s+)?(\w+)/, "interface"],
      [/^\s*package\s+(\w+)/, "module"],
      [
        /^\s*(?:(?:virtual|static|local|protected|pure|extern)\s+)*(?:function|task)\s[^(;]*?\b(?:\w+::)?(\w+)\s*[(;]/,
        "function",
      ],
      [/^\s*`define\s+(\w+)/, "macro"],
    ],
  },
  vhdl: {
    comment: DASHES,
    patterns: [
      [/^\s*entity\s+(\w+)\s+is\b/i, "class"],
      [/^\s*architecture\s+(\w+)\s+of\s+(\w+)/i, "class"],
      [/^\s*package\s+(?:body\s+)?(\w+)\s+is\b/i, "module"],
      [/^\s*component\s+(\w+)/i, "interface"],
      [/^\s*(?:pure\s+|impure\s+)?(?:function|procedure)\s+(\w+)/i, "function"],
      [/^\s*(\w+)\s*:\s*process\b/i, "function"],
      [/^\s*(?:sub)?type\s+(\w+)/i, "type"],
    ],
  },
  shader: {
    ...SLASHES,
    patterns: [
      [/^\s*struct\s+(\w+)/, "struct"],
      [/^(?:@\w+(?:\([^)]*\))?\s*)*fn\s+(\w+)/, "function"],
      [/^\s*#define\s+(\w+)/, "macro"],
      OF_C,
    ],
  },
  cython: {
    ...HASH,
    patterns: [
      [/^\s*(?:cdef\s+)?(?:public\s+|api\s+)*class\s+(\w+)/, "class"],
      [/^\s*(?:async\s+)?def\s+(\w+)/, "function"],
      [/^\s*cp?def\s+(?:[\w.*[\]&]+\s+){0,6}[*&]{0,3}(\w+)\s*\(/, "function"],
      [/^\s*(?:cdef|ctypedef)\s+(?:packed\s+)?(?:struct|union|enum)\s+(\w+)/, "struct"],
    ],
  },
  groovy: {
    ...SLASHES,
    patterns: [
      [/^\s*(?:(?:public|private|protected|static|final|abstract)\s+)*(?:class|trait)\s+(\w+)/, "class"],
      [/^\s*(?:(?:public|private|protected|static)\s+)*@?interface\s+(\w+)/, "interface"],
      [/^\s*(?:(?:public|private|protected|static)\s+)*enum\s+(\w+)/, "enum"],
      [/^\s*task\s+(\w+)/, "target"],
      [/^\s*tasks\.register\(\s*["'](\w+)/, "target"],
      [/^\s*(?:def|void)\s+["']([^"'\n]{1,200})["']\s*\(/, "test"],
      [
        /^\s*(?!(?:else|return|if|while|for|switch|new|throw|assert|import|case)\b)(?:@\w+\s+)*(?:[\w.]+(?:<[^<>]{0,80}>)?(?:\[\])?\s+){1,5}(\w+)\s*\([^;]*\{\s*$/,
        "function",
      ],
    ],
  },
};
