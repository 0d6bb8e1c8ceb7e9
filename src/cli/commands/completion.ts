import type { Command } from "commander";
import type { Context } from "../context.ts";
import { CliError, EXIT } from "../exit-codes.ts";
import { withLocalIndex } from "../local-index/local-search.ts";

/** Kind of a command's operands. */
type Operand = "file" | "symbol" | "none" | readonly string[];

interface Entry {
  name: string;
  description: string;
  flags: { flag: string; description: string; takesValue: boolean }[];
  operand: Operand;
}

const SHELLS = ["bash", "zsh", "fish"];
const OPERANDS: Readonly<Record<string, Operand>> = {
  outline: "file",
  read: "file",
  symbol: "symbol",
  refs: "symbol",
  callers: "symbol",
  callees: "symbol",
  implementations: "symbol",
  completion: SHELLS,
};
const MAX_NAMES = 200;

/** `codectx completion <shell>`: prints a script generated from the command definitions. */
export function completion(context: Context, program: Command, shell: string): void {
  const scripts: Record<string, (entries: Entry[]) => string> = { bash, zsh, fish };
  const make = scripts[shell];
  if (!make) throw new CliError(EXIT.usage, "UNKNOWN_SHELL", `no completion for ${shell}: ${SHELLS.join(", ")}`);
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
      })),
      { flag: "--help", description: "show help", takesValue: false },
    ],
    operand:
      OPERANDS[command.name()] ??
      (command.commands.length > 0 ? command.commands.map((inner) => inner.name()) : "none"),
  };
}

const quoted = (text: string): string => text.replaceAll("'", "’").replaceAll("`", "");

/** Command that prints the names with a prefix. */
const ASK_NAMES = "codectx --quiet complete-symbols";

function bash(entries: Entry[]): string {
  const cases = entries.map(({ name, flags, operand }) => {
    const words = `compgen -W "${flags.map(({ flag }) => flag).join(" ")}" -- "$cur"`;
    const reply = (source: string): string => `COMPREPLY=($(${source}))`;
    if (operand === "none") return `    ${name}) ${reply(words)} ;;`;
    const source =
      operand === "file"
        ? `compgen -f -- "$cur"`
        : operand === "symbol"
          ? `${ASK_NAMES} "$cur" 2>/dev/null`
          : `compgen -W "${operand.join(" ")}" -- "$cur"`;
    return `    ${name}) if [[ $cur == -* ]]; then ${reply(words)}; else ${reply(source)}; fi ;;`;
  });
  return `_codectx() {
  local cur=\${COMP_WORDS[COMP_CWORD]} command=""
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

function zsh(entries: Entry[]): string {
  const commands = entries.map(
    ({ name, description }) => `    '${name}:${quoted(description).replaceAll(":", "\\:")}'`,
  );
  const cases = entries.map(({ name, flags, operand }) => {
    const specs = flags.map(
      ({ flag, description, takesValue }) =>
        `'${flag}[${quoted(description).replace(/[[\]]/g, "")}]${takesValue ? ":value:" : ""}'`,
    );
    if (operand === "file") specs.push("'*:file:_files'");
    else if (operand === "symbol") specs.push("'1:name:_codectx_symbols'");
    else if (operand !== "none") specs.push(`'1:word:(${operand.join(" ")})'`);
    return `    ${name}) _arguments ${specs.join(" ")} ;;`;
  });
  return `#compdef codectx
_codectx_symbols() {
  compadd -- \${(f)"$(${ASK_NAMES} "$PREFIX" 2>/dev/null)"}
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

function fish(entries: Entry[]): string {
  const lines = ["complete -c codectx -f"];
  for (const { name, description, flags, operand } of entries) {
    lines.push(`complete -c codectx -n __fish_use_subcommand -a ${name} -d '${quoted(description)}'`);
    const seen = `complete -c codectx -n '__fish_seen_subcommand_from ${name}'`;
    for (const { flag, description, takesValue } of flags) {
      lines.push(`${seen} -l ${flag.replace(/^--/, "")} -d '${quoted(description)}'${takesValue ? " -r" : ""}`);
    }
    if (operand === "file") lines.push(`${seen} -F`);
    else if (operand === "symbol") lines.push(`${seen} -a '(${ASK_NAMES} (commandline -ct) 2>/dev/null)'`);
    else if (operand !== "none") lines.push(`${seen} -a '${operand.join(" ")}'`);
  }
  return lines.join("\n");
}
