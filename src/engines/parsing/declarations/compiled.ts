import { NO_DIRECTIVE, TRIPLE_QUOTES, type DeclarationRules } from "./rules.ts";

/** Functions of languages with the syntax of C, whose types come first. */
const OF_C: DeclarationRules["patterns"][number] = [
  /^(?!(?:else|return|if|while|for|switch|case|using|typedef|goto|delete|new|throw)\b)(?:[\w:]+(?:<[^<>]{0,80}>)?[\s*&]+){1,5}(\w+)\s*\([^;]*$/,
  "function",
];

const MOVE: DeclarationRules = {
  separator: "::",
  patterns: [
    [/^\s*(?:pub\s+)?(?:mod|module)\s+([\w:]+)/, "module"],
    [/^\s*(?:pub(?:lic)?\s+)?struct\s+(\w+)/, "struct"],
    [/^\s*(?:pub(?:lic)?\s+)?enum\s+(\w+)/, "enum"],
    [/^\s*(?:pub\s+)?trait\s+(\w+)/, "trait"],
    [/^\s*(?:pub\s+)?impl\s+(\w+)/, "extension"],
    [/^\s*(?:(?:pub|public|entry|native|inline|extern|const)(?:\([\w:]+\))?\s+)*(?:fn|fun)\s+(\w+)/, "function"],
    [/^\s*(?:pub\s+)?const\s+(\w+)/, "constant"],
  ],
};

const GROOVY: DeclarationRules = {
  texts: TRIPLE_QUOTES,
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
    // A body on the same line: only a type or modifier before the name tells a method from a call in a build script.
    [
      /^\s*(?:(?:(?:public|private|protected|static|final)\s+)+(?:[\w.]+(?:<[^<>]{0,80}>)?(?:\[\])?\s+)?|(?:def|void|boolean|int|long|double|[A-Z][\w.]*(?:<[^<>]{0,80}>)?(?:\[\])?)\s+)(\w+)\s*\([^;{]*\{/,
      "function",
    ],
  ],
};

/** Compiled languages. By the id of the language. */
export const COMPILED: Readonly<Record<string, DeclarationRules>> = {
  crystal: {
    heredoc: [/<<-'?(\w+)'?/, "$1"],
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
    texts: ['"""'],
    patterns: [
      [/^\s*(?:proc|func|method|iterator|converter)\s+`?([^\s`*([{:]+)/, "function"],
      [/^\s*(?:template|macro)\s+`?([^\s`*([{:]+)/, "macro"],
      [
        /^\s*(?:type\s+)?`?([A-Z]\w*)`?\*?(?:\s*\[[^\]]*\])?(?:\s*\{\.[^}]*\.\})?\s*=\s*(?:ref\s+|ptr\s+)?(?:object|enum|tuple|distinct|concept)\b/,
        "struct",
      ],
    ],
  },
  odin: {
    patterns: [
      [/^(\w+)\s*::\s*(?:#\w+\s+)*(?:"[^"\n]*"\s+)?proc\b/, "function"],
      [/^(\w+)\s*::\s*(?:distinct\s+)?(?:struct|union|bit_set)\b/, "struct"],
      [/^(\w+)\s*::\s*enum\b/, "enum"],
      [/^(\w+)\s*::/, "constant"],
    ],
  },
  fortran: {
    begins: NO_DIRECTIVE,
    separator: "%",
    parameters: /&\s*(?:!|$)/,
    closing: {
      ends: [
        [/^\s*end\s*(?:subroutine|function|program|procedure)\b/i, ["function"]],
        [/^\s*end\s*(?:sub)?module\b/i, ["module"]],
        [/^\s*end\s*type\b/i, ["struct"]],
        [/^\s*end\s*interface\b/i, ["interface"]],
        [/^\s*end\s*(?:!.*)?$/i, ["function", "module"]],
      ],
      inner: /^\s*contains\b/i,
      named: /^\s*module\s+procedure\b/i,
    },
    patterns: [
      [/^\s*module\s+(?!procedure\b|subroutine\b|function\b)(\w+)/i, "module"],
      [/^\s*submodule\s*\([^)]*\)\s*(\w+)/i, "module"],
      [/^\s*module\s+procedure\s+(\w+)\s*(?:!.*)?$/i, "function"],
      [/^\s*program\s+(\w+)/i, "function"],
      [/^\s*(?!end)(?:[\w*()=,][\w*()=, ]{0,99}\s)?(?:subroutine|function)\s+(\w+)/i, "function"],
      [/^\s*type\s*(?:,[^:]*)?(?:::\s*|\s)(?!is\b|\()(\w+)\s*(?:!.*)?$/i, "struct"],
      [/^\s*interface\s+(operator\s*\([^)]*\)|assignment\s*\(=\)|\w+)/i, "interface"],
    ],
  },
  pascal: {
    quote: "'",
    body: /^(?:const|label|resourcestring|threadvar)\b/i,
    patterns: [
      [/^\s*(?:class\s+)?(?:procedure|function|constructor|destructor|operator)\s+([\w.]+)/i, "function"],
      [/^\s*(\w+)(?:<[^<>]{0,80}>)?\s*=\s*(?:packed\s+)?(?:class|object|record)\b(?!\s+of\b)/i, "class"],
      [/^\s*(\w+)\s*=\s*(?:interface|dispinterface)\b/i, "interface"],
    ],
  },
  ada: {
    patterns: [
      [/^\s*(?:private\s+)?package\s+(?:body\s+)?([\w.]+)/i, "module"],
      [/^\s*(?:overriding\s+|not\s+)*(?:procedure|function|entry)\s+([\w.]+|"[^"\s]{1,8}")/i, "function"],
      [/^\s*(?:task|protected)\s+(?:type\s+|body\s+)?(\w+)/i, "class"],
      [/^\s*(?:sub)?type\s+(\w+)/i, "type"],
    ],
  },
  vb: {
    begins: NO_DIRECTIVE,
    patterns: [
      [/^\s*Namespace\s+([\w.]+)/i, "namespace"],
      [/^\s*(?:\w+\s+){0,4}?(?:Class|Structure|Module)\s+(\w+)/i, "class"],
      [/^\s*(?:\w+\s+){0,4}?Interface\s+(\w+)/i, "interface"],
      [/^\s*(?:\w+\s+){0,4}?Enum\s+(\w+)/i, "enum"],
      [/^\s*(?!End\b|Exit\b)(?:\w+\s+){0,6}?(?:Sub|Function|Property(?:\s+(?:Get|Let|Set))?)\s+(\w+)/i, "function"],
    ],
  },
  "objective-c": {
    begins: NO_DIRECTIVE,
    parameters: /^(?:[-+]|\w+:)[^;{]*$|[(,]\s*$/,
    section: { kinds: ["class", "interface"], end: /^@end\b/ },
    namedAtEnd: {
      begins: /^typedef\s+(?:struct|union|enum)\b[^;}]*$/,
      ends: /^\}\s*\*?\s*(\w+)\b[^;]*;/,
      kind: "struct",
    },
    patterns: [
      [/^@(?:interface|implementation)\s+(\w+)/, "class"],
      [/^@protocol\s+(\w+)(?!.*;)/, "interface"],
      [/^[-+]\s*\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)\s*(\w+)/, "function"],
      // `@property (copy) void (^done)(int);`, else the last name before attributes such as `API_AVAILABLE(…)`.
      [/^\s*@property\b[^;]*\(\^\s*(?:_\w+\s+)?(\w+)\)/, "field"],
      [/^\s*@property\s*(?:\([^)]*\)\s*)?[^;()]*?\b(\w+)(?:\s+(?:[A-Z]+_[A-Z_]+|__attribute__)\b[^;]*)?\s*;/, "field"],
      [/^typedef\s+(?:NS|CF)_\w*(?:ENUM|OPTIONS)\s*\([^,)]*,\s*(\w+)/, "enum"],
      [/^typedef\b[^;]*?\(\^\s*(?:_\w+\s+)?(\w+)\)/, "type"],
      [/^typedef\b[^;{()]*?\b(\w+)(?:\s+[A-Z]+_[A-Z_]+\b[^;]*)?\s*;/, "type"],
      [/^\s*#\s*define\s+(\w+)/, "macro"],
      [/^(?:static\s+|extern\s+|[A-Z]+_E(?:XPORT|XTERN)\s+)[\w\s*]*\bconst\s+(?:_\w+\s+)?(\w+)\s*[;=[]/, "constant"],
      // Files of MATLAB have the same ending.
      [/^\s*function\s+(?:[\w[\], ]{0,200}=\s*)?([\w.]+)/, "function"],
      [/^classdef\s+(?:\([^)]*\)\s*)?(\w+)/, "class"],
      OF_C,
    ],
  },
  d: {
    patterns: [
      [/^\s*(?:\w+(?:\(\w+\))?\s+){0,4}?(?:class|interface|template)\s+(\w+)/, "class"],
      [/^\s*(?:\w+(?:\(\w+\))?\s+){0,4}?(?:struct|union)\s+(\w+)/, "struct"],
      [/^\s*(?:\w+(?:\(\w+\))?\s+){0,3}?enum\s+(\w+)\s*=/, "constant"],
      [/^\s*(?:\w+(?:\(\w+\))?\s+){0,3}?enum\s+(\w+)/, "enum"],
      [/^\s*(?:\w+(?:\(\w+\))?\s+){0,3}?(~?this)\s*\([^;{]*(?:\{|$)/, "function"],
      [/^\s*(?:\w+(?:\(\w+\))?\s+){0,2}?alias\s+(\w+)\s*(?:\([^)]*\)\s*)?=/, "type"],
      [
        /^\s{0,8}(?!(?:else|return|if|while|for|foreach|switch|case|import|alias|throw|new|assert|mixin)\b)(?:(?:extern|version)\s*\([^()]*\)\s*)?(?:@?[\w.!*[\]]+(?:\((?:[^()]|\([^()]*\))*\)[\w.*[\]]*)?\s+){1,9}(?!(?:if|foreach|while|switch|assert|delegate|function)\b)(\w+)\s*\([^;{]*(?:\{|=>|$)/,
        "function",
      ],
    ],
  },
  solidity: {
    patterns: [
      [/^\s*(?:abstract\s+)?contract\s+(\w+)/, "class"],
      [/^\s*interface\s+(\w+)/, "interface"],
      [/^\s*library\s+(\w+)/, "module"],
      [/^\s*struct\s+(\w+)/, "struct"],
      [/^\s*enum\s+(\w+)/, "enum"],
      [/^\s*(?:function|modifier|event|error)\s+([\w$]+)/, "function"],
      [/^\s*(constructor|receive|fallback)\s*\(/, "function"],
      [/^\s*type\s+(\w+)\s+is\b/, "type"],
    ],
  },
  verilog: {
    begins: /^(?!`(?!define\b))/,
    section: { kinds: ["module"], end: /^\s*(?:endmodule|endprogram|endchecker|endpackage)\b/ },
    namedAtEnd: {
      begins: /^\s*typedef\s+(?!class\b)[^;})]*$/,
      ends: /^\s*[})]\s*(\w+)\b[^;]*;/,
      kind: "type",
    },
    patterns: [
      [/^\s*(?:virtual\s+)?(?:module|macromodule|program|checker)\s+(?:automatic\s+|static\s+)?(\w+)/, "module"],
      [/^\s*(?:virtual\s+)?class\s+(\w+)/, "class"],
      [/^\s*interface\s+(?:class\s+)?(\w+)/, "interface"],
      [/^\s*package\s+(\w+)/, "module"],
      [
        /^\s*(?:(?:virtual|static|local|protected|pure|extern)\s+)*(?:function|task)\s[^(;]*?\b(?:\w+::)?(\w+)\s*[(;]/,
        "function",
      ],
      [/^\s*typedef\b(?!\s+class\b)[^;]*?\b(\w+)\s*(?:\[[^\]]{0,100}\]\s*)?;/, "type"],
      [/^\s*`define\s+(\w+)/, "macro"],
    ],
  },
  vhdl: {
    patterns: [
      [/^\s*entity\s+(\w+)\s+is\b/i, "class"],
      [/^\s*architecture\s+(\w+)\s+of\s+(\w+)/i, "class"],
      [/^\s*package\s+(?:body\s+)?(\w+)\s+is\b/i, "module"],
      [/^\s*component\s+(\w+)/i, "interface"],
      [/^\s*(?:pure\s+|impure\s+)?(?:function|procedure)\s+(\w+)/i, "function"],
      [/^\s*(\w+)\s*:\s*process\b/i, "function"],
      [/^\s*type\s+(\w+)\s+is\s+protected\b/i, "class"],
      [/^\s*(?:sub)?type\s+(\w+)/i, "type"],
    ],
  },
  shader: {
    begins: NO_DIRECTIVE,
    patterns: [
      [/^\s*struct\s+(\w+)/, "struct"],
      [/^(?:@\w+(?:\([^)]*\))?\s*)*fn\s+(\w+)/, "function"],
      [/^\s*#define\s+(\w+)/, "macro"],
      OF_C,
    ],
  },
  cython: {
    texts: TRIPLE_QUOTES,
    patterns: [
      [/^\s*(?:cdef\s+)?(?:public\s+|api\s+)*class\s+(\w+)/, "class"],
      [/^\s*(?:async\s+)?def\s+(\w+)/, "function"],
      [/^\s*cp?def\s+(?:[\w.*[\]&]+\s+){0,6}[*&]{0,3}(\w+)\s*\(/, "function"],
      [/^\s*(?:cdef|ctypedef)\s+(?:packed\s+)?(?:struct|union|enum)\s+(\w+)/, "struct"],
      [/^([A-Z_][A-Z\d_]*)\s*(?::[^=]*)?=(?!=)/, "constant"],
    ],
  },
  groovy: GROOVY,
  gradle: GROOVY,
  apex: {
    patterns: [
      [
        /^\s*(?:@\w+(?:\([^)]*\))?\s+)*(?:(?:global|public|private|protected|abstract|virtual|(?:with|without|inherited)\s+sharing)\s+)*class\s+(\w+)/i,
        "class",
      ],
      [/^\s*(?:(?:global|public|private|protected)\s+)*interface\s+(\w+)/i, "interface"],
      [/^\s*(?:(?:global|public|private|protected)\s+)*enum\s+(\w+)/i, "enum"],
      [/^trigger\s+(\w+)\s+on\b/i, "function"],
      [
        /^\s*(?:@\w+(?:\([^)]*\))?\s+)*(?:(?:global|public|private|protected|static|virtual|abstract|override|testmethod|webservice)\s+)+(?:[\w.]+(?:<(?:[^<>]|<[^<>]{0,60}>){0,80}>)?(?:\[\])?\s+)?(\w+)\s*\([^;]*$/i,
        "method",
      ],
    ],
  },
  haxe: {
    begins: NO_DIRECTIVE,
    patterns: [
      [/^\s*(?:@:\w+(?:\([^)]*\))?\s+)*(?:(?:private|final|extern|abstract)\s+)*(?:class|abstract)\s+(\w+)/, "class"],
      [/^\s*(?:(?:private|extern)\s+)*interface\s+(\w+)/, "interface"],
      [/^\s*(?:(?:private|extern)\s+)*enum\s+(?:abstract\s+)?(\w+)/, "enum"],
      [/^\s*(?:private\s+)?typedef\s+(\w+)/, "type"],
      [
        /^\s*(?:@:\w+(?:\([^)]*\))?\s+)*(?:(?:public|private|static|inline|override|final|dynamic|macro|extern|overload)\s+)*function\s+(\w+)/,
        "function",
      ],
    ],
  },
  vala: {
    begins: NO_DIRECTIVE,
    patterns: [
      [/^\s*namespace\s+([\w.]+)/, "namespace"],
      [/^\s*(?:(?:public|private|internal|protected|abstract|sealed)\s+)*class\s+([\w.]+)/, "class"],
      [/^\s*(?:(?:public|private|internal)\s+)*interface\s+([\w.]+)/, "interface"],
      [/^\s*(?:(?:public|private|internal)\s+)*struct\s+([\w.]+)/, "struct"],
      [/^\s*(?:(?:public|private|internal)\s+)*(?:enum|errordomain)\s+([\w.]+)/, "enum"],
      [
        /^\s*(?:(?:public|private|internal|protected|static|async|virtual|abstract|override|inline|extern|signal|delegate|owned|unowned|new)\s+)+(?:[\w.]+(?:<[^<>]{0,80}>)?[?\][]*\s+)?([\w.]+)\s*\([^;]*$/,
        "method",
      ],
    ],
  },
  cairo: MOVE,
  move: MOVE,
  mojo: {
    texts: ['"""'],
    patterns: [
      [/^\s*(?:struct|trait|class)\s+(\w+)/, "struct"],
      [/^\s*(?:async\s+)?(?:fn|def)\s+(\w+)/, "function"],
      [/^alias\s+(\w+)/, "constant"],
    ],
  },
  vyper: {
    texts: ['"""'],
    patterns: [
      [/^(?:struct|event|flag|enum)\s+(\w+)/, "struct"],
      [/^interface\s+(\w+)/, "interface"],
      [/^\s*def\s+(\w+)/, "function"],
      [/^(\w+)\s*:\s*(?:public|constant|immutable)\(/, "field"],
    ],
  },
  qml: {
    patterns: [
      [/^\s*component\s+(\w+)\s*:/, "class"],
      [/^\s*function\s+(\w+)/, "function"],
      [/^\s*signal\s+(\w+)/, "field"],
      [/^\s*(?:(?:readonly|required|default)\s+)*property\s+[\w.<>]+\s+(\w+)/, "field"],
      [/^\s*id\s*:\s*(\w+)\s*;?\s*$/, "object"],
    ],
  },
  cobol: {
    patterns: [
      [/^(?:.{6})?\s*program-id\.\s*([\w-]+)/i, "module"],
      [
        /^(?:.{6})?\s{0,4}(?!(?:file|working-storage|local-storage|linkage|screen|report|communication|configuration|input-output)\s)([\w-]+)\s+section\s*\./i,
        "function",
      ],
      [/^.{6}\s((?!(?:exit|goback|stop|continue|end-\w+|else)\b)[a-z\d][\w-]*)\.\s*$/i, "function"],
    ],
  },
  abap: {
    patterns: [
      [/^\s*class\s+([\w/]+)\s+(?:definition|implementation)\b/i, "class"],
      [/^\s*interface\s+([\w/]+)\s*(?:public\s*)?(?:\.|$)/i, "interface"],
      [/^\s*method\s+([\w/~]+)/i, "method"],
      [/^\s*(?:form|function|module)\s+([\w/]+)/i, "function"],
    ],
  },
};
