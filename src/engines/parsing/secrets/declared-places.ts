/** Places that something in front of or behind them declares to hold a secret, whatever it is called. */
import type { PasswordPlace } from "./types.ts";

export const DECLARED_PLACES: readonly PasswordPlace[] = [
  // A parameter of CloudFormation with `NoEcho`, a variable of Terraform with `sensitive`
  {
    rule: "declared-secret",
    hints: ["NoEcho"],
    pattern:
      /\bNoEcho["']?:\s{0,4}["']?(?:true|yes)\b(?:[^{}\n]{0,200}\n){0,6}?[^{}\n]{0,40}?\bDefault["']?:[ \t]{0,4}["']?([^\s"'{}]{6,200})/gi,
  },
  {
    rule: "declared-secret",
    hints: ["NoEcho"],
    pattern:
      /\bDefault["']?:[ \t]{0,4}["']?([^\s"'{}]{6,200})(?=["']?,?[ \t]{0,4}\r?\n(?:[^{}\n]{0,200}\n){0,6}?[^{}\n]{0,40}?\bNoEcho["']?:\s{0,4}["']?(?:true|yes)\b)/gi,
  },
  {
    rule: "declared-secret",
    hints: ["sensitive"],
    pattern:
      /\bdefault[ \t]{0,20}=[ \t]{0,4}"([^\s"]{6,200})"(?=[ \t]{0,4}\r?\n(?:[^{}\n]{0,200}\n){0,6}?[ \t]{0,20}sensitive[ \t]{0,20}=[ \t]{0,4}true)/g,
  },
  {
    rule: "declared-secret",
    hints: ["sensitive"],
    pattern:
      /\bsensitive[ \t]{0,20}=[ \t]{0,4}true[ \t]{0,4}\r?\n(?:[^{}\n]{0,200}\n){0,6}?[ \t]{0,20}default[ \t]{0,20}=[ \t]{0,4}"([^\s"]{6,200})"/g,
  },
  // `##vso[task.setvariable variable=apiKey]…`, `::add-mask::…`
  {
    rule: "workflow-command",
    hints: ["setvariable variable="],
    pattern: /setvariable variable=[\w.-]{0,60}(?:pass|pwd|secret|token|key|cred)[^\]\n]{0,60}\]([^\s"'`$(]{8,200})/gi,
  },
  { rule: "workflow-command", hints: ["::add-mask::"], pattern: /::add-mask::([^\s"'`$]{8,200})/g },
  // LDAP's `bindCredentials: …`, the CDK's `SecretValue.unsafePlainText("…")`
  {
    rule: "declared-secret",
    hints: ["bindCredentials", "unsafePlainText"],
    pattern:
      /\b(?:bindCredentials["']?[ \t]{0,4}[:=][ \t]{0,4}["']?|unsafePlainText\([ \t]{0,4}["'`])([^\s"'`${}]{6,200})/g,
  },
  // Phoenix's `signing_salt`, which has eight characters
  {
    rule: "declared-secret",
    hints: ["signing_salt"],
    pattern: /\bsigning_salt["']?\s{0,4}(?:=>|[:=])\s{0,4}["']([\w+/-]{8,64})["']/g,
  },
  // Travis CI's `slack: account:…`
  {
    rule: "directive",
    hints: ["slack:"],
    strict: true,
    pattern: /\bslack:\s{1,20}(?:(?:rooms:\s{1,20})?- )?["']?[\w-]{1,40}:([A-Za-z\d]{24})(?![\w-])/g,
  },
  // haproxy's `hdr(x-key) -m str …`
  {
    rule: "directive",
    hints: ["hdr("],
    pattern: /hdr\([\w-]{0,40}(?:key|token|secret|auth)[\w-]{0,20}\) (?:-[im] ?){0,2}(?:str )?["']?([^\s"'{}]{8,200})/g,
  },
  // `{:basic, "user:…"}`, `auth: "user:…"`
  {
    rule: "basic-credentials",
    hints: ["basic", "auth", "Basic", "Auth"],
    pattern:
      /(?:\bbasic\w{0,12}["']?\s{0,4}[:=,(]|auth\w{0,12}["']?\s{0,4}[:=(])\s{0,4}(?:\w{1,20}\()?["'`][\w.@+-]{1,60}:([^\s"'`/:][^\s"'`:]{5,200})["'`]/gi,
  },
  // `newInstance("jdbc:…", "user", "…")`
  {
    rule: "login",
    hints: [
      "jdbc:",
      "dbi:",
      "ldap://",
      "ldaps://",
      "amqp://",
      "bolt://",
      "neo4j://",
      "tcp://",
      "http://",
      "https://",
      "sftp://",
    ],
    pattern:
      /["'](?:jdbc|dbi|ldaps?|amqps?|bolt|neo4j(?:\+s)?|tcp|s?ftp|https?):[^\s"'`]{3,200}["']\s{0,4},\s{0,20}["'][\w.@\\-]{1,60}["']\s{0,4},\s{0,20}["']([^\s"'`{}<>]{6,100})["']/g,
    strict: true,
  },
  // `?appid=…`, `&key=…`
  {
    rule: "url-key",
    hints: ["appid=", "key=", "auth=", "code=", "pass=", "pwd=", "apikey=", "token="],
    strict: true,
    pattern:
      /[?&](?:appid|app_?key|key|k|api_?key|access_?key|auth|code|pass|pwd|password|token)=([\w.~-]{16,128})(?![\w.~%-])/gi,
  },
];
