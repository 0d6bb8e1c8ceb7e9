import type { Command } from "commander";
import type { Context } from "../context.ts";
import { CliError, EXIT } from "../exit-codes.ts";

interface Entry {
  name: string;
  description: string;
  flags: { flag: string; description: string; takesValue: boolean }[];
  /** Completes paths. */
  files: boolean;
}

/** `codectx completion <shell>`: a script generated from the command line itself. */
export function completion(context: Context, program: Command, shell: string): void {
  const scripts: Record<string, (entries: Entry[]) => string> = { bash, zsh, fish };
  const make = scripts[shell];
  if (!make) throw new CliError(EXIT.usage, "UNKNOWN_SHELL", `no completion for ${shell}: bash, zsh or fish`);
  const script = make(program.commands.map((command) => entryOf(program, command)));
  context.ui.result({ shell, script }, () => script);
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
    files: command.name() === "outline",
  };
}

const quoted = (text: string): string => text.replaceAll("'", "’").replaceAll("`", "");

function bash(entries: Entry[]): string {
  const cases = entries.map(({ name, flags, files }) => {
    const words = `compgen -W "${flags.map(({ flag }) => flag).join(" ")}" -- "$cur"`;
    const operands = files ? `compgen -f -- "$cur"` : `compgen -W "bash zsh fish" -- "$cur"`;
    const takesOperand = files || name === "completion";
    const reply = (source: string): string => `COMPREPLY=($(${source}))`;
    if (!takesOperand) return `    ${name}) ${reply(words)} ;;`;
    return `    ${name}) if [[ $cur == -* ]]; then ${reply(words)}; else ${reply(operands)}; fi ;;`;
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
  const cases = entries.map(({ name, flags, files }) => {
    const specs = flags.map(
      ({ flag, description, takesValue }) =>
        `'${flag}[${quoted(description).replace(/[[\]]/g, "")}]${takesValue ? ":value:" : ""}'`,
    );
    if (files) specs.push("'*:file:_files'");
    if (name === "completion") specs.push("'1:shell:(bash zsh fish)'");
    return `    ${name}) _arguments ${specs.join(" ")} ;;`;
  });
  return `#compdef codectx
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
  for (const { name, description, flags, files } of entries) {
    lines.push(`complete -c codectx -n __fish_use_subcommand -a ${name} -d '${quoted(description)}'`);
    const seen = `complete -c codectx -n '__fish_seen_subcommand_from ${name}'`;
    for (const { flag, description, takesValue } of flags) {
      lines.push(`${seen} -l ${flag.replace(/^--/, "")} -d '${quoted(description)}'${takesValue ? " -r" : ""}`);
    }
    if (files) lines.push(`${seen} -F`);
    if (name === "completion") lines.push(`${seen} -a 'bash zsh fish'`);
  }
  return lines.join("\n");
}
