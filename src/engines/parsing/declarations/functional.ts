import { NO_DIRECTIVE, type DeclarationRules } from "./rules.ts";

/** A character of an operator. */
const OPERATOR = String.raw`[!#$%&*+./<=>?@\\^|~:-]`;
/** The name of the function that an equation of Haskell defines: no keyword, and not the left operand of an operator. */
const EQUATION = String.raw`(?!(?:import|where|infix[lr]?|deriving|default|foreign|pattern|else|then|in|of|data|newtype|type|class|instance|module|let|if|case|do)(?![\w']))([a-z_][\w']*)(?!\s+(?:(?![|=]\s)${OPERATOR}+\s|${"`"}))\s[^=]*=(?!=)`;

const HASKELL: DeclarationRules = {
  clauses: /$/,
  begins: NO_DIRECTIVE,
  opens: /^(?:class|instance)\b(?!.*\bwhere\b)/,
  // Or a pragma: `{-# OVERLAPPING #-} Ord Int where`.
  goesOn: /^(?:::|[|=](?![|=])|\{-#)/,
  members: [
    [/^\s+([a-z_][\w']*)\s*(?:,[\s\w',]*)?::/, "method"],
    [new RegExp(String.raw`^\s+${EQUATION}`), "method"],
  ],
  patterns: [
    [/^module\s+([\w.]+)/, "module"],
    [/^(?:data|newtype|type)\s+(?:[a-z]\w*|\([^()]*\))\s+(:[^\s\w]{1,20})\s/, "type"],
    [/^(?:data|newtype)\s+(?:instance\s+|family\s+)?(?:[^=]*=>\s*)?([A-Z][\w']*)/, "type"],
    [/^type\s+(?:family\s+|instance\s+)?([A-Z][\w']*)/, "type"],
    [/^class\s+(?:[^=]*=>\s*)?([A-Z][\w'.]*)/, "interface"],
    [
      /^instance\s+(?:\{-#[^#]*#-\}\s*)?(?:[a-z]\w*\s*::\s*)?(?:[^=]*=>\s*)?([A-Z][\w'.]*\s+(?:\((?:[^()]|\([^()]*\))*\)|[^\s(]\S*))/,
      "extension",
    ],
    [/^pattern\s+([A-Z][\w']*)/, "constant"],
    [/^(?:foreign\s+import\s+.*?\b)?([a-z_][\w']*)\s*(?:,[\s\w',]*)?::/, "function"],
    [new RegExp(`^${EQUATION}`), "function"],
  ],
};

/** Functional languages. By the id of the language. */
export const FUNCTIONAL: Readonly<Record<string, DeclarationRules>> = {
  haskell: HASKELL,
  purescript: HASKELL,
  elm: {
    clauses: /$/,
    texts: ['"""'],
    patterns: [
      [/^(?:port\s+|effect\s+)?module\s+([\w.]+)/, "module"],
      [/^type\s+(?:alias\s+)?(\w+)/, "type"],
      [/^(?:port\s+)?([a-z]\w*)\s*:(?!:)/, "function"],
      [/^(?!(?:import|type|port|infix)\b)([a-z]\w*)\s[^=]*=(?!=)/, "function"],
    ],
  },
  ocaml: {
    patterns: [
      [/^\s*module\s+(?:type\s+|rec\s+)?([A-Z]\w*)/, "module"],
      [/^\s*(?:type|and)\s+(?:nonrec\s+)?(?:[+-]?'\w+\s+|\([^)]*\)\s+)?([a-z_]\w*)(?=\s*(?:=|:=|$))/, "type"],
      [/^\s*let%\w+\s+"([^"\n]{1,200})"/, "test"],
      [/^\s*(?:let|and)(?:\[@[^\]]*\])?\s+(?:rec\s+)?(?!(?:open|module|exception)\b)([a-z_][\w']*)/, "function"],
      [/^\s*(?:val|external)(?:\[@[^\]]*\])?\s+([a-z_][\w']*)/, "function"],
      [/^\s*(?:let|and|val|external)(?:\[@[^\]]*\])?\s+\(\s*([^\s\w()]{1,20})\s*\)/, "function"],
      [/^\s*exception\s+(\w+)/, "type"],
      [/^\s*class\s+(?:virtual\s+|type\s+)*([a-z_]\w*)/, "class"],
      [/^\s*method\s+(?:virtual\s+|private\s+)*([a-z_]\w*)/, "function"],
    ],
  },
  fsharp: {
    texts: ['"""'],
    begins: NO_DIRECTIVE,
    patterns: [
      [/^\s*(?:namespace|module)\s+(?:rec\s+|internal\s+|private\s+|public\s+)*([\w.]+)/, "module"],
      [/^\s*(?:type|and)\s+(?:internal\s+|private\s+|public\s+)*([A-Z]\w*)/, "class"],
      // A name between double backticks may be a sentence: tests are named so.
      [
        /^\s*(?:let|and)\s+(?:\[<[^>]*>\]\s*|rec\s+|inline\s+|private\s+|internal\s+|mutable\s+)*(?:``([^`]{1,200})``|([a-zA-Z_][\w']*))/,
        "function",
      ],
      [
        /^\s*(?:static\s+)?(?:member|override|default|abstract)\s+(?:val\s+|inline\s+|private\s+|member\s+)*(?:\w+\.)?(?:``([^`]{1,200})``|(\w+))/,
        "function",
      ],
    ],
  },
  erlang: {
    clauses: /;\s*(?:%|$)/,
    parameters: /[({[,]\s*$/,
    // The formatter writes the ends of parameters and guards on lines of their own: `}) ->`.
    body: /^[)\]}]*\s*(?:->|when\b)/,
    separator: ":",
    patterns: [
      [/^-module\(\s*'?(\w+)/, "constant"],
      [/^-record\(\s*'?(\w+)/, "struct"],
      [/^-define\(\s*(\w+)/, "macro"],
      [/^-(?:type|opaque)\s+(\w+)/, "type"],
      [/^-callback\s+(\w+)/, "method"],
      [/^(?:'([^'\n]{1,200})'|([a-z][\w@]*))\(/, "function"],
    ],
  },
  clojure: {
    begins: /^[(#)[{^@:']/,
    separator: "/",
    patterns: [
      [/^\(ns\s+(?:\^\S+\s+)*([^\s()"]+)/, "constant"],
      [/^\s*\(def(?:protocol|interface)\s+(?:\^\S+\s+)*([^\s()"]+)/, "interface"],
      [/^\s*\(def(?:record|type|struct)\s+(?:\^\S+\s+)*([^\s()"]+)/, "struct"],
      [/^\s*\(defmacro\s+(?:\^\S+\s+)*([^\s()"]+)/, "macro"],
      [/^\s*\(def(?:once)?\s+(?:\^\S+\s+)*([^\s()"]+)/, "variable"],
      [/^\s*\((?:[\w.-]+\/)?def[\w-]*\s+(?:\^\S+\s+)*([^\s()"{}[\]:]+)/, "function"],
    ],
  },
  lisp: {
    begins: /^[(#)]/,
    patterns: [
      [/^\s*\((?:cl-)?(?:defclass|defstruct|define-record-type|define-condition|struct)\s+\(?([^\s()"']+)/, "struct"],
      [/^\s*\((?:cl-)?(?:defmacro|define-syntax(?:-rule)?|define-macro)\s+\(?([^\s()"']+)/, "macro"],
      [
        /^\s*\((?:defvar|defparameter|defconstant|defcustom|defvar-local|defvar-keymap|defvaralias|define-obsolete-variable-alias|defconst|defface)\s+'?([^\s()"']+)/,
        "variable",
      ],
      [/^\s*\((?:defpackage|define-module|module)\s+[#:'(]*([^\s()"']+)/, "constant"],
      [/^\s*\((?:cl-)?(?:def(?!ault|er\b|ine-key\b)[a-z*-]*)\s+[(']*([^\s()"']+)/, "function"],
    ],
  },
  gleam: {
    patterns: [
      [/^(?:pub\s+)?(?:opaque\s+)?type\s+(\w+)/, "type"],
      [/^(?:pub\s+)?(?:external\s+)?fn\s+(\w+)/, "function"],
      [/^(?:pub\s+)?const\s+(\w+)/, "constant"],
    ],
  },
  rescript: {
    patterns: [
      [/^\s*module\s+(?:type\s+|rec\s+)?([A-Z]\w*)/, "module"],
      [/^\s*(?:export\s+)?type\s+(?:rec\s+)?([a-z]\w*)/, "type"],
      [/^\s*(?:@[\w.]+(?:\([^)]*\))?\s+)*(?:let|and|external)\s+(?:rec\s+)?([a-z_]\w*)/, "function"],
    ],
  },
  lean: {
    section: { kinds: ["namespace"], end: /^end\b/ },
    patterns: [
      [/^\s*namespace\s+([\w.]+)/, "namespace"],
      [
        /^\s*(?:@\[[^\]]*\]\s*)?(?:(?:private|protected|public)\s+)?(?:structure|class(?:\s+inductive)?)\s+([\w.']+)/,
        "struct",
      ],
      [/^\s*(?:@\[[^\]]*\]\s*)?(?:(?:private|protected|public)\s+)?inductive\s+([\w.']+)/, "enum"],
      [
        /^\s*(?:@\[[^\]]*\]\s*)?(?:(?:private|protected|public|noncomputable|partial|unsafe|nonrec|scoped|local)\s+)*(?:def|theorem|lemma|abbrev|opaque|axiom|instance|macro|syntax|elab)\s+([^\s({[:]+)/,
        "function",
      ],
    ],
  },
  sml: {
    patterns: [
      [/^\s*(?:structure|functor)\s+(\w+)/, "module"],
      [/^\s*signature\s+(\w+)/, "interface"],
      [/^\s*(?:datatype|type|eqtype|abstype)\s+(?:'\w+\s+|\([^)]*\)\s+)?([\w']+)/, "type"],
      [/^\s*exception\s+(\w+)/, "type"],
      [/^\s*(?:fun|and)\s+(?:'\w+\s+)?([\w']+)/, "function"],
      [/^\s*val\s+(?:rec\s+)?([\w']+)/, "constant"],
    ],
  },
};
