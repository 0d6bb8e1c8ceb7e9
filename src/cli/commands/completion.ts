import type { Command } from "commander";
import type { Context } from "../context.ts";
import { LANGUAGES } from "../../engines/parsing/languages.ts";
import { SYMBOL_KINDS } from "../../engines/parsing/types.ts";
import { CliError, EXIT } from "../exit-codes.ts";
import { listRefs } from "../git/git.ts";
import { withLocalIndex } from "../local-index/local-search.ts";
import { CLIENT_NAMES } from "./setup-clients.ts";

/** What a word is completed from. */
type Source = "file" | "symbol" | "ref" | readonly string[];

interface Flag {
  flag: string;
  description: string;
  takesValue: boolean;
  /** Undefined for free text. */
  values?: Source | undefined;
}

interface Entry {
  name: string;
  description: string;
  flags: Flag[];
  /** Of the operands; undefined if there are none, or free text. */
  operand: Source | undefined;
}

const SHELLS = ["bash", "zsh", "fish"];
const OPERANDS: Readonly<Record<string, Source>> = {
  outline: "file",
  read: "file",
  coverage: "file",
  files: "file",
  path: "symbol",
  setup: CLIENT_NAMES,
  symbol: "symbol",
  refs: "symbol",
  callers: "symbol",
  callees: "symbol",
  implementations: "symbol",
  completion: SHELLS,
};
/** Values of flags that no list of choices comes with. A flag of one name takes the same values in all commands. */
const VALUES: Readonly<Record<string, Source>> = {
  "--kind": SYMBOL_KINDS,
  "--language": LANGUAGES.map(({ id }) => id),
  "--ref": "ref",
  "--path": "file",
  "--at": "file",
};
const MAX_NAMES = 200;

/** `codectx completion <shell>`: prints a script generated from the command definitions. */
export function completion(context: Context, program: Command, shell: string): void {
  const scripts: Record<string, (entries: Entry[]) => string> = { bash, zsh, fish };
  const make = scripts[shell];
  if (!make)
    throw new CliError(EXIT.usage, "UNKNOWN_SHELL", `no completion for ${shell}: expected one of ${SHELLS.join(", ")}`);
  const visible = program.createHelp().visibleCommands(program);
  const script = make(
    visible.filter((command) => command.name() !== "help").map((command) => entryOf(program, command)),
  );
  context.ui.result({ shell, script }, () => script.split("\n"));
}

/** Prints names of symbols with a prefix, for completion scripts; nothing on errors. */
export async function completeSymbols(context: Context, prefix: string): Promise<void> {
  try {
    const names = await withLocalIndex(context, async (index) => {
      const { symbols } = await index.symbols({ name: prefix, match: "prefix", limit: MAX_NAMES });
      return [...new Set(symbols.map(({ name }) => name))].filter((name) => /^[\p{L}\p{N}_$]+$/u.test(name)).sort();
    });
    if (names.length > 0) context.ui.result({ names }, () => names);
  } catch {
    // An error message would disturb the shell's completion.
  }
}

/** Prints branches and tags with a prefix, for completion scripts; nothing on errors. */
export async function completeRefs(context: Context, prefix: string): Promise<void> {
  try {
    const refs = (await listRefs(context.cwd)).filter((name) => name.startsWith(prefix) && /^[\w./@+-]+$/.test(name));
    const names = refs.sort().slice(0, MAX_NAMES);
    if (names.length > 0) context.ui.result({ names }, () => names);
  } catch {
    // As above.
  }
}

function entryOf(program: Command, command: Command): Entry {
  const options = [...command.options, ...program.options];
  return {
    name: command.name(),
    description: command.description(),
    flags: [
      ...options.map((option) => ({
        flag: option.long ?? option.short ?? "",
        description: option.description,
        takesValue: option.required,
        values: option.argChoices ?? VALUES[option.long ?? ""],
      })),
      { flag: "--help", description: "show help", takesValue: false },
    ],
    operand:
      OPERANDS[command.name()] ??
      (command.commands.length > 0 ? command.commands.map((inner) => inner.name()) : undefined),
  };
}

const quoted = (text: string): string => text.replaceAll("'", "’").replaceAll("`", "");

/** Commands that print what begins with a prefix. */
const ASK = { symbol: "codectx --quiet complete-symbols", ref: "codectx --quiet complete-refs" };

/** The flags of all commands that take one of known values, once each. */
function valued(entries: readonly Entry[]): [flag: string, values: Source][] {
  const known = entries.flatMap(({ flags }) =>
    flags.flatMap(({ flag, values }): [string, Source][] => (values === undefined ? [] : [[flag, values]])),
  );
  return [...new Map(known)];
}

/** Bash that prints the words of a source that begin with `$cur`. */
function bashWords(source: Source): string {
  if (source === "file") return `compgen -f -- "$cur"`;
  return typeof source === "string"
    ? `${ASK[source]} "$cur" 2>/dev/null`
    : `compgen -W "${source.join(" ")}" -- "$cur"`;
}

function bash(entries: Entry[]): string {
  const cases = entries.map(({ name, flags, operand }) => {
    const words = `compgen -W "${flags.map(({ flag }) => flag).join(" ")}" -- "$cur"`;
    const reply = (source: string): string => `COMPREPLY=($(${source}))`;
    if (operand === undefined) return `    ${name}) ${reply(words)} ;;`;
    return `    ${name}) if [[ $cur == -* ]]; then ${reply(words)}; else ${reply(bashWords(operand))}; fi ;;`;
  });
  const values = valued(entries).map(([flag, source]) => `    ${flag}) COMPREPLY=($(${bashWords(source)})); return ;;`);
  return `_codectx() {
  local cur=\${COMP_WORDS[COMP_CWORD]} command=""
  case \${COMP_WORDS[COMP_CWORD - 1]} in
${values.join("\n")}
  esac
  local i
  for ((i = 1; i < COMP_CWORD; i++)); do
    [[ \${COMP_WORDS[i]} != -* ]] && { command=\${COMP_WORDS[i]}; break; }
  done
  case $command in
    "") COMPREPLY=($(compgen -W "${entries.map(({ name }) => name).join(" ")} --help --version" -- "$cur")) ;;
${cases.join("\n")}
  esac
}
complete -F _codectx codectx`;
}

/** The action of a zsh argument. */
function zshAction(source: Source): string {
  if (source === "file") return "_files";
  return typeof source === "string" ? `_codectx_${source}s` : `(${source.join(" ")})`;
}

function zsh(entries: Entry[]): string {
  const commands = entries.map(
    ({ name, description }) => `    '${name}:${quoted(description).replaceAll(":", "\\:")}'`,
  );
  const cases = entries.map(({ name, flags, operand }) => {
    const specs = flags.map(
      ({ flag, description, takesValue, values }) =>
        `'${flag}[${quoted(description).replace(/[[\]]/g, "")}]${takesValue ? `:value:${values ? zshAction(values) : ""}` : ""}'`,
    );
    if (operand !== undefined) specs.push(`'${operand === "file" ? "*" : "1"}:word:${zshAction(operand)}'`);
    return `    ${name}) _arguments ${specs.join(" ")} ;;`;
  });
  return `#compdef codectx
_codectx_symbols() {
  compadd -- \${(f)"$(${ASK.symbol} "$PREFIX" 2>/dev/null)"}
}
_codectx_refs() {
  compadd -- \${(f)"$(${ASK.ref} "$PREFIX" 2>/dev/null)"}
}
_codectx() {
  local -a commands
  commands=(
${commands.join("\n")}
  )
  if (( CURRENT == 2 )); then
    _describe command commands
    return
  fi
  local command=$words[2]
  shift words
  (( CURRENT-- ))
  case $command in
${cases.join("\n")}
  esac
}
if [[ $funcstack[1] == _codectx ]]; then _codectx "$@"; else compdef _codectx codectx; fi`;
}

/** The options of fish that complete from a source. */
function fishWords(source: Source): string {
  if (source === "file") return "-F";
  return typeof source === "string"
    ? `-a '(${ASK[source]} (commandline -ct) 2>/dev/null)'`
    : `-a '${source.join(" ")}'`;
}

function fish(entries: Entry[]): string {
  const lines = ["complete -c codectx -f"];
  for (const { name, description, flags, operand } of entries) {
    lines.push(`complete -c codectx -n __fish_use_subcommand -a ${name} -d '${quoted(description)}'`);
    const seen = `complete -c codectx -n '__fish_seen_subcommand_from ${name}'`;
    for (const { flag, description, takesValue, values } of flags) {
      const given = `${takesValue ? " -r" : ""}${values === undefined ? "" : ` ${fishWords(values)}`}`;
      lines.push(`${seen} -l ${flag.replace(/^--/, "")} -d '${quoted(description)}'${given}`);
    }
    if (operand !== undefined) lines.push(`${seen} ${fishWords(operand)}`);
  }
  return lines.join("\n");
}
