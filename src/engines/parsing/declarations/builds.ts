import type { DeclarationRules } from "./rules.ts";

/** A name of Nix, and the parameters of a function: `a:` or `{ a, b ? 1, ... }@args:`. */
const NIX_NAME = String.raw`[\w'-]+(?:\.[\w'-]+)*`;
const NIX_PARAMETERS = String.raw`(?:\w[\w'-]*\s*:(?!/)|(?:\w+\s*@\s*)?\{(?:[^{}]|\{[^{}]*\})*\}\s*(?:@\s*\w+\s*)?:)`;

/** Languages of builds, configurations and policies, grammars, and assembly. By the id of the language. */
export const BUILDS: Readonly<Record<string, DeclarationRules>> = {
  nix: {
    texts: ["''"],
    // `name =` with the parameters below it.
    opens: new RegExp(String.raw`^\s*${NIX_NAME}\s*=\s*$`),
    parameters: /(?:[={,]|\.\.\.)\s*$/,
    members: [[new RegExp(String.raw`^\s*(${NIX_NAME})\s*=\s*(?:rec\s*)?\{`), "object"]],
    patterns: [
      [new RegExp(String.raw`^\s*(${NIX_NAME})\s*=\s*${NIX_PARAMETERS}`), "function"],
      [new RegExp(String.raw`^\s*(${NIX_NAME})\s*=\s*(?:lib\.)?mk(?:Enable|Package)?Option\b`), "field"],
      [/^\s*(options(?:\.[\w'-]+)*)\s*=\s*\{/, "object"],
    ],
  },
  rego: {
    section: { kinds: ["module"] },
    patterns: [
      [/^package\s+([\w.]+)/, "module"],
      [
        /^(?:default\s+)?(?!(?:package|import|not|some|every|with|as|else)\b)([a-z_]\w*)(?:\(|\[|\s+(?:contains|if)\b|\s*(?::?=|\{))/,
        "function",
      ],
    ],
  },
  cue: {
    patterns: [
      [/^\s*(_?#\w+)\s*(?:[?!]\s*)?:/, "struct"],
      [/^let\s+(\w+)\s*=/, "constant"],
      [/^(?:"([^"\n]{1,100})"|(\w+))[?!]?:\s.*\{\s*$/, "object"],
    ],
  },
  jsonnet: {
    heredoc: [/\|\|\|\s*$/, "|||"],
    hasOwnBraces: true,
    parameters: /\(\s*$|^\s*\w+(?:=[^:]*)?,\s*$/,
    opens: /^\s*(?:local\s+)?\w+\(\s*$/,
    patterns: [
      [/^\s*local\s+(\w+)\s*(?:\(|=\s*function\b)/, "function"],
      [/^\s*(?:['"]([^'"\n]{1,100})['"]|(\w+))\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)\s*:/, "function"],
      [/^local\s+(\w+)\s*=/, "constant"],
      // Visible fields deeper within are data, such as the panels of a dashboard.
      [/^\s{0,2}(\w+)\s*\+?:\s*(?:[\w.$]+\s*\+\s*)?\{\s*$/, "object"],
      [/^\s*(\w+)\s*(?:\+:|\+?:{2,3})\s*(?:[\w.$]+\s*\+\s*)?\{/, "object"],
    ],
  },
  just: {
    patterns: [
      [/^(?:export\s+)?([a-zA-Z_][\w-]*)\s*:=/, "constant"],
      [/^alias\s+([a-zA-Z_][\w-]*)\s*:=/, "target"],
      [/^@?([a-zA-Z_][\w-]*)(?:\s[^:\n]{0,200})?:(?!=)/, "target"],
    ],
  },
  meson: {
    texts: ["'''"],
    patterns: [
      [
        /^\s*(\w+)\s*=\s*(?:executable|library|(?:static|shared|both)_librar(?:y|ies)|shared_module|custom_target|declare_dependency|dependency|configure_file|run_target|jar)\s*\(/,
        "target",
      ],
    ],
  },
  autoconf: {
    heredoc: [/^\s*(?:AC_DEFUN|m4_def).*\[\s*$/, "])"],
    patterns: [
      [/^\s*(?:A[CU]_DEFUN(?:_ONCE)?|m4_(?:define|define_default|defun|defun_once))\(\[*(\w+)/, "macro"],
      [/^\s*define\(`?(\w+)/, "macro"],
      [/^([\w.-]+)\s*:(?!=)/, "target"],
    ],
  },
  puppet: {
    separator: "::",
    patterns: [
      [/^\s*class\s+([\w:]+)/, "class"],
      [/^\s*(?:define|function|plan)\s+([\w:]+)/, "function"],
      [/^\s*type\s+([\w:]+)\s*=/, "type"],
    ],
  },
  openscad: {
    patterns: [[/^\s*(?:module|function)\s+(\w+)/, "function"]],
  },
  assembly: {
    // Local labels and most directives.
    begins: /^(?!\.(?!(?:macro|endm|equ|set)\b)|[\d#]|L\w*:)/,
    patterns: [
      [/^\s*(?:\.macro|%macro|MACRO)\s+(\w+)/i, "macro"],
      [/^(\w+):?\s+MACRO\b/i, "macro"],
      [/^(?:cglobal|ENTRY|GLOBAL|SYM_FUNC_START\w*|SYM_CODE_START\w*|ASM_FUNC)[\s(]+(\w+)/, "function"],
      [/^(\w+)\s+PROC\b/i, "function"],
      [/^\s*(?:%(?:define|assign)|DEF|\.equ|\.set)\s+(\w+)/i, "constant"],
      [/^(\w+)\s+equ\b/i, "constant"],
      [/^struc\s+(\w+)/i, "struct"],
      [/^([A-Za-z_$][\w$.@]*)::?/, "function"],
    ],
  },
  grammar: {
    // ANTLR and yacc write the colon on the next line.
    goesOn: /^:/,
    patterns: [
      [
        /^(?:(?:fragment|rule|and|%inline|%public)\s+)*[?!]{0,2}(?!(?:grammar|options|import|token|let|open)\b)([A-Za-z_][\w-]*)(?:\.\d+|\{[^}]*\}|\([^()]*\))?(?:\s*\[[^\]]*\])?(?:\s*"[^"]*")?\s*(?:::?=?|<-|←|=)(?!=)/,
        "rule",
      ],
    ],
  },
};
