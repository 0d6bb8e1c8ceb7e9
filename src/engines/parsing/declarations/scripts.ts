import { TRIPLE_QUOTES, type DeclarationRules } from "./rules.ts";

/** A name of Julia, which may have any signs: `∇f`, `add!`, `Base.show`. */
const JULIA_NAME = String.raw`[^\s()[\]{}=,;"'#@:$]+`;
/** Macros before a definition: `@inline`. */
const JULIA_MACROS = String.raw`(?:(?:\w+\.)*@[\w.]+\s+)*`;
/** A short function: `f(x::Int) where T = x`. */
const JULIA_SHORT = String.raw`(${JULIA_NAME})(?:\{[^}]*\})?\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)(?:::[\w.{}]+)?(?:\s+where\s[^=]*)?\s*=(?!=)`;

/** Scripting languages. By the id of the language. */
export const SCRIPTS: Readonly<Record<string, DeclarationRules>> = {
  perl: {
    heredoc: [/<<[~-]?(?:"([^"]+)"|'([^']+)'|([A-Z_]\w*))/, "$1$2$3"],
    separator: "::",
    section: { kinds: ["module"] },
    patterns: [
      [/^\s*(?:package|class|role)\s+([\w:]+)\s*[{;]?/, "module"],
      [/^\s*(?:my\s+)?(?:async\s+)?(?:sub|method|fun)\s+([\w:']+)/, "function"],
      [/^\s*use\s+constant\s+(\w+)/, "constant"],
    ],
  },
  r: {
    patterns: [
      [/^(?:([\w.]+)|[`"']([^`"'\n]{1,200})[`"'])\s*(?:<<?-|=)\s*(?:function\b|\\\()/, "function"],
      [/^([\w.]+)\s*(?:<-|=)\s*(?:R6::)?R6Class\(/, "class"],
      [/^(?:[\w.]+\s*<-\s*)?(?:methods::)?set(?:Ref)?Class\(\s*["']([\w.]+)["']/, "class"],
      [/^(?:methods::)?set(?:Generic|Method)\(\s*["']([^"'\n]+)["']/, "function"],
    ],
  },
  julia: {
    texts: ['"""'],
    section: { kinds: ["module"] },
    single: /^(?!.*\b(?:function|struct|macro|module)\s).*=|^\s*(?:abstract|primitive)\s/,
    // Constructors in a type.
    members: [[new RegExp(String.raw`^\s+${JULIA_SHORT}`), "method"]],
    parameters: /[(,;]\s*$/,
    // A short function: `f(a,` and `b) = a + b`.
    opens: new RegExp(String.raw`^${JULIA_MACROS}${JULIA_NAME}(?:\{[^}]*\})?\(.*[(,;]\s*$`),
    patterns: [
      [/^\s*(?:bare)?module\s+(\w+)/, "module"],
      [new RegExp(String.raw`^\s*${JULIA_MACROS}function\s+(${JULIA_NAME})`), "function"],
      [new RegExp(String.raw`^\s*${JULIA_MACROS}(?:mutable\s+)?struct\s+(\w+)`), "struct"],
      [/^\s*(?:abstract|primitive)\s+type\s+(\w+)/, "type"],
      [/^\s*macro\s+(\w+)/, "macro"],
      [/^\s*@enum\s+(\w+)/, "enum"],
      [new RegExp(String.raw`^\s*(?:export\s+)?const\s+(${JULIA_NAME})`), "constant"],
      [new RegExp(`^${JULIA_MACROS}${JULIA_SHORT}`), "function"],
    ],
  },
  powershell: {
    heredoc: [/@(["'])\s*$/, "$1@"],
    patterns: [
      [/^\s*(?:function|filter|workflow|configuration)\s+(?:\w+:)?([\w-]+)/i, "function"],
      [/^\s*class\s+(\w+)/i, "class"],
      [/^\s*enum\s+(\w+)/i, "enum"],
    ],
  },
  vim: {
    patterns: [
      [/^\s*fu(?:n|nc|nct|ncti|nctio|nction)?!?\s+([\w:#.<>]+)/, "function"],
      [/^\s*(?:export\s+)?def!?\s+([\w:#.]+)/, "function"],
      [/^\s*command!?\s+(?:-\S+\s+)*([A-Z]\w*)/, "function"],
    ],
  },
  tcl: {
    separator: "::",
    patterns: [
      [/^\s*namespace\s+eval\s+([\w:]+)/, "namespace"],
      [/^\s*(?:oo::class\s+create|itcl::class|snit::type)\s+([\w:]+)/, "class"],
      [/^\s*(?:proc|method|constructor)\s+([^\s{}"]+)/, "function"],
      [/^\s*(?:(?:tcltest::)?test|do_\w{0,40}test)\s+(?:\{([^{}\n]{1,200})\}|"([^"\n]{1,200})"|([\w.:-]+)\s)/, "test"],
    ],
  },
  awk: { patterns: [[/^\s*func(?:tion)?\s+(\w+)/, "function"]] },
  fish: { patterns: [[/^\s*function\s+([\w.:-]+)/, "function"]] },
  batch: { patterns: [[/^:(?!:)(\w[\w.-]*)/, "function"]] },
  coffeescript: {
    texts: TRIPLE_QUOTES,
    patterns: [
      [/^\s*(?:module\.exports\s*=\s*|exports\.\w+\s*=\s*|export\s+(?:default\s+)?)?class\s+(\w+)/, "class"],
      [/^\s*(?:export\s+)?@?([\w.$]+)\s*[:=]\s*(?:\w+\s+)?(?:\([^)]*\)\s*)?[-=]>/, "function"],
    ],
  },
  gdscript: {
    texts: ['"""'],
    patterns: [
      [/^class_name\s+(\w+)/, "class"],
      [/^\s*class\s+(\w+)/, "class"],
      [/^\s*(?:@\w+(?:\([^)]*\))?\s+)*(?:static\s+)?func\s+(\w+)/, "function"],
      [/^\s*signal\s+(\w+)/, "field"],
      [/^\s*enum\s+(\w+)/, "enum"],
      [/^\s*const\s+(\w+)/, "constant"],
      [/^(?:@\w+(?:\([^)]*\))?\s+)*(?:static\s+)?var\s+(\w+)/, "field"],
    ],
  },
  nushell: {
    patterns: [
      [
        /^\s*(?:export\s+)?def\s+(?:--\w+\s+){0,5}["']?(\w[\w-]{0,60}(?: \w[\w-]{0,60}){0,4})["']?\s*(?:--\w+\s*){0,5}\[/,
        "function",
      ],
      [/^\s*(?:export\s+)?module\s+([\w-]+)/, "module"],
      [/^\s*(?:export\s+)?(?:extern|alias)\s+["']?([\w -]+)/, "function"],
      [/^\s*(?:export\s+)?const\s+(\w+)/, "constant"],
    ],
  },
  snakemake: {
    texts: TRIPLE_QUOTES,
    patterns: [
      [/^\s*(?:rule|checkpoint|module|subworkflow)\s+(\w+)/, "function"],
      [/^\s*def\s+(\w+)/, "function"],
      [/^class\s+(\w+)/, "class"],
    ],
  },
  nextflow: {
    texts: TRIPLE_QUOTES,
    patterns: [
      [/^\s*(?:process|workflow)\s+(\w+)/, "function"],
      [/^\s*def\s+(\w+)\s*\(/, "function"],
    ],
  },
  stata: {
    patterns: [
      [
        /^\s*(?:cap(?:ture)?\s+)?pr(?:o|og|ogr|ogra|ogram)\s+(?:de(?:f|fi|fin|fine)?\s+)?(?!drop\b|dir\b|list\b)(\w+)/,
        "function",
      ],
    ],
  },
};
