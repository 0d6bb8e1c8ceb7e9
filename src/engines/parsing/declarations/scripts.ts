import { HASH, type DeclarationRules } from "./rules.ts";

/** Scripting languages. By the id of the language. */
export const SCRIPTS: Readonly<Record<string, DeclarationRules>> = {
  perl: {
    ...HASH,
    // Documentation begins with any command: `=head1`, `=over`.
    block: [/^=[a-z]/, "=cut"],
    separator: "::",
    section: { kind: "module" },
    patterns: [
      [/^\s*(?:package|class|role)\s+([\w:]+)\s*[{;]?/, "module"],
      [/^\s*(?:my\s+)?(?:async\s+)?(?:sub|method|fun)\s+([\w:']+)/, "function"],
      [/^\s*use\s+constant\s+(\w+)/, "constant"],
    ],
  },
  r: {
    ...HASH,
    patterns: [
      [/^[`"']?([\w.]+)[`"']?\s*(?:<<?-|=)\s*(?:function\b|\\\()/, "function"],
      [/^([\w.]+)\s*(?:<-|=)\s*(?:R6::)?R6Class\(/, "class"],
      [/^(?:[\w.]+\s*<-\s*)?(?:methods::)?set(?:Ref)?Class\(\s*["']([\w.]+)["']/, "class"],
      [/^(?:methods::)?set(?:Generic|Method)\(\s*["']([^"'\n]+)["']/, "function"],
    ],
  },
  julia: {
    ...HASH,
    block: [/(?:^|\s)#=/, "=#"],
    section: { kind: "module" },
    patterns: [
      [/^\s*(?:bare)?module\s+(\w+)/, "module"],
      [/^\s*(?:@[\w.]+\s+)*function\s+([\w.!]+)/, "function"],
      [/^\s*(?:@[\w.]+\s+)*(?:mutable\s+)?struct\s+(\w+)/, "struct"],
      [/^\s*(?:abstract|primitive)\s+type\s+(\w+)/, "type"],
      [/^\s*macro\s+(\w+)/, "macro"],
      [/^\s*(?:export\s+)?const\s+(\w+)/, "constant"],
      [/^(?:@[\w.]+\s+)*([\w.!]+)\([^=]*\)(?:::[\w.{}]+)?(?:\s+where\s[^=]*)?\s*=(?!=)/, "function"],
    ],
  },
  powershell: {
    ...HASH,
    block: [/(?:^|\s)<#/, "#>"],
    patterns: [
      [/^\s*(?:function|filter|workflow|configuration)\s+(?:\w+:)?([\w-]+)/i, "function"],
      [/^\s*class\s+(\w+)/i, "class"],
      [/^\s*enum\s+(\w+)/i, "enum"],
    ],
  },
  vim: {
    comment: /^\s*"/,
    patterns: [
      [/^\s*fu(?:n|nc|nct|ncti|nctio|nction)?!?\s+([\w:#.<>]+)/, "function"],
      [/^\s*(?:export\s+)?def!?\s+([\w:#.]+)/, "function"],
      [/^\s*command!?\s+(?:-\S+\s+)*([A-Z]\w*)/, "function"],
    ],
  },
  tcl: {
    ...HASH,
    separator: "::",
    patterns: [
      [/^\s*namespace\s+eval\s+([\w:]+)/, "namespace"],
      [/^\s*(?:oo::class\s+create|itcl::class|snit::type)\s+([\w:]+)/, "class"],
      [/^\s*(?:proc|method|constructor)\s+([^\s{}"]+)/, "function"],
    ],
  },
  awk: { ...HASH, patterns: [[/^\s*func(?:tion)?\s+(\w+)/, "function"]] },
  fish: { ...HASH, patterns: [[/^\s*function\s+([\w.:-]+)/, "function"]] },
  batch: { comment: /^\s*(?:rem\b|::)/i, patterns: [[/^:(?!:)(\w[\w.-]*)/, "function"]] },
  coffeescript: {
    ...HASH,
    block: [/^###/, "###"],
    patterns: [
      [/^\s*(?:module\.exports\s*=\s*|exports\.\w+\s*=\s*|export\s+(?:default\s+)?)?class\s+(\w+)/, "class"],
      [/^\s*(?:export\s+)?@?([\w.$]+)\s*[:=]\s*(?:\w+\s+)?(?:\([^)]*\)\s*)?[-=]>/, "function"],
    ],
  },
};
