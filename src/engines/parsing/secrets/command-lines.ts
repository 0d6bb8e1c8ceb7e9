/** Command lines with a password among their arguments. */
import type { PasswordPlace } from "./types.ts";

/** Tools, by a text in each of their names and by their names, and the flag that a password follows. */
const FLAGS: readonly (readonly [hints: string, tools: string, flag: string])[] = [
  [
    "sshpass mysql maria docker podman mongo helm skopeo crane buildah ldap redis-cli",
    "sshpass|mysql\\w{0,8}|mariadb\\w{0,8}|docker|podman|mongo\\w{0,8}|helm|skopeo|crane|buildah|ldap\\w{3,8}|redis-cli",
    "(?:-[paPw]|--password)[ =]?",
  ],
  ["az_ oc_", "az|oc", "-{1,2}(?:p|password)[ =]"],
  ["sqlcmd bcp mosquitto ipmitool tsql isql", "sqlcmd|bcp|mosquitto_\\w{3}|ipmitool|f?isql|tsql", "-P ?"],
  ["7z rar_", "7z[az]?|u?n?rar", "-p"],
  ["zip_", "zip|unzip", "-P ?"],
  ["ssh-keygen", "ssh-keygen", "-[NP] ?"],
  [
    "freerdp cmdkey schtasks signtool psexec",
    "[xw]freerdp3?|cmdkey|schtasks|signtool|psexec\\w{0,4}",
    "[-/](?:pass|rp|p)[: ]",
  ],
  ["codecov", "codecov", "-(?:t|-token)[ =]"],
  ["plink pscp psftp", "plink|pscp|psftp", "-pw "],
  ["openssl", "openssl", "-(?:k |pass(?:in|out)?\\s{1,4}[\"']?pass:)"],
  ["lftp", "lftp", "-u\\s{1,4}[\\w.@-]{1,60},"],
  [
    "smb rpcclient winexe wmic mount.cifs",
    "smb\\w{3,8}|rpcclient|winexe|wmic|mount\\.cifs",
    "(?:-U ?|--user[= ])[\"']?[\\w.\\\\/-]{1,60}%",
  ],
  ["net_use", "net use", "/user:\\S{1,80}\\s{1,4}"],
  ["net_use", "net use", String.raw`\\\\\S{1,120}\s{1,4}(?=\S{6,80}\s{1,4}/user)`],
  ["net_user", "net user", "[\\w.-]{1,40} (?=\\S{6,80}(?: /add|[ \\t]*$))"],
  ["rabbitmqctl", "rabbitmqctl", "(?:add_user|change_password)\\s{1,4}\\S{1,60}\\s{1,4}"],
  ["snmp", "snmp(?:bulk)?(?:walk|get|set)", "-[AXc] ?"],
];

export const COMMAND_LINES: readonly PasswordPlace[] = [
  ...FLAGS.map(([hints, tools, flag]) => ({
    rule: "command-line",
    words: true,
    hints: hints.split(" ").map((hint) => hint.replaceAll("_", " ")),
    pattern: new RegExp(
      String.raw`\b(?:${tools})\b[^\n]{0,160}?[\s"'](?:${flag})["']?([^\s"'\x60-][^\s"'\x60]{5,200})`,
      "gm",
    ),
  })),
  {
    rule: "command-line",
    words: true,
    hints: ["-u ", "-u=", "--user", "--proxy-user", "--auth", "--creds"],
    pattern: /(?<![\w-])(?:-u|--user|--proxy-user|--auth|--creds)[ =]["']?[\w.@+-]{1,80}:([^\s"'`]{6,200})/g,
  },
  {
    rule: "command-line",
    hints: ["htpasswd"],
    pattern:
      /\bhtpasswd\s{1,4}(?:-\w{1,8}\s{1,4}){0,4}-\w{0,8}b\w{0,8}\s{1,4}(?:-\w{1,8}\s{1,4}){0,4}\S{1,200}\s{1,4}[\w.@-]{1,60}\s{1,4}["']?([^\s"'`]{6,200})/g,
  },
  {
    rule: "command-line",
    hints: ["chpasswd"],
    pattern: /(?<=^[ \t]{0,20}(?:- )?|echo\s{1,4}["']?)[\w-]{1,32}:([^\s"'|]{6,200})(?=["']?\s{0,4}(?:\||$))/gm,
  },
  {
    rule: "command-line",
    hints: ["-stdin", "-fd", "sudo -S", "kinit", "passwd", "cryptsetup"],
    pattern:
      /\b(?:echo|printf)\s{1,4}(?:-n\w?\s{1,4}|-e\s{1,4}|'%s'\s{1,4})?["']?([^\s"'|$]{8,256})["']?\s{0,4}\|\s{0,4}[^\n|]{0,80}?(?:--password-stdin|--passphrase-fd|sudo -S|kinit|passwd|cryptsetup)/g,
  },
  // `vncpasswd <<< "…"`
  {
    rule: "command-line",
    hints: ["<<<"],
    pattern: /(?:passw|kinit|sudo -S|cryptsetup|stdin)[^\n]{0,80}?<<<\s{0,4}["']?([^\s"'`]{8,200})/g,
  },
  // `child.sendline("…")`
  {
    rule: "command-line",
    hints: ["sendline(", "send_line("],
    strict: true,
    pattern: /\bsend_?line\(b?["']([^\s"'`\\]{8,64})["']\)/g,
  },
  // Scripts of expect: `send "…\r"`
  {
    rule: "command-line",
    hints: ["send", "write("],
    strict: true,
    pattern: /\b(?:send(?:line)?|write)[ (]{1,4}(?:-- )?b?["']([^\s"'`\\]{8,64})\\[rn]/g,
  },
  {
    rule: "command-line",
    hints: ["http -", "https -", "http ", "xh "],
    pattern:
      /(?:^|[\s;&|])(?:https?|xh)[ \t]{1,4}(?:[^\n]{0,80}?[ \t])?-a[ \t]{1,4}["']?[\w.@+-]{1,80}:([^\s"'`]{6,200})/gm,
  },
  {
    rule: "cookie",
    hints: ["curl"],
    pattern:
      /\bcurl\b[^\n]{0,200}?\s-b\s{0,4}["']?[\w.-]{0,30}(?:sess|sid|auth|token|jwt|remember|login|secret)[\w.-]{0,30}=([^;\s"'\\%]{16,400})(?!%)/g,
  },
];
