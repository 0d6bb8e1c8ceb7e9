/** Places where only a password can occur: directives, statements of SQL, connection strings, pairs of a user and a password. */
import { COMMAND_LINES } from "./command-lines.ts";
import { DECLARED_PLACES } from "./declared-places.ts";
import type { PasswordPlace } from "./types.ts";

/** Names of users that have a password wherever they stand. */
const USERS =
  "admin|administrator|root|superuser|sysadmin|sysdba|sa|postgres|elastic|operator|service|guest|deploy|jenkins";

export const PASSWORD_PLACES: readonly PasswordPlace[] = [
  ...COMMAND_LINES,
  ...DECLARED_PLACES,
  {
    rule: "netrc",
    words: true,
    hints: ["password"],
    pattern:
      /\b(?:machine\s{1,20}\S{1,200}|default)\s{1,20}login\s{1,20}\S{1,200}\s{1,20}(?:account\s{1,20}\S{1,200}\s{1,20})?password\s{1,20}([^\s"'\\]{1,300})/g,
  },
  {
    rule: "pgpass",
    words: true,
    hints: [":"],
    // What comes first is looked at last: few lines have such a number.
    pattern: /:(?:\d{2,5}|\*):(?<=^[\w.*-]{1,200}:(?:\d{2,5}|\*):)[\w*-]{1,60}:[\w*.@-]{1,60}:([^\s"'`,;)]{6,200})$/gm,
  },
  // `rocommunity …`, `snmp-server community …`
  {
    rule: "directive",
    hints: ["community"],
    pattern: /\b(?:r[ow]community6?|snmp-server community)[ \t]{1,20}["']?([^\s"']{6,200})/g,
  },
  // `createUser name SHA "…" AES "…"`
  {
    rule: "directive",
    hints: ["createUser"],
    pattern: /\bcreateUser[ \t]{1,20}[^\n]{0,80}?\b(?:MD5|SHA(?:-?\d{3})?)[ \t]{1,20}["']?([^\s"']{8,200})/g,
  },
  {
    rule: "directive",
    hints: ["createUser"],
    pattern: /\bcreateUser[ \t]{1,20}[^\n]{0,200}?\b(?:DES|AES(?:-?\d{3})?)[ \t]{1,20}["']?([^\s"']{8,200})/g,
  },
  // `user name on >… ~keys`
  {
    rule: "directive",
    hints: ["user ", "SETUSER"],
    pattern: /\b(?:user|SETUSER)[ \t]{1,4}[\w.@-]{1,60}[ \t]{1,4}[^\n>]{0,120}?[ \t]>(\S{6,200})/g,
  },
  // `username name privilege 15 secret 0 …`, `user name insecure-password …`
  {
    rule: "directive",
    hints: ["user ", "username "],
    pattern:
      /\buser(?:name)?[ \t]{1,4}[\w.@-]{1,60}[ \t]{1,4}(?:[\w-]{1,20}[ \t]{1,4}){0,3}?(?:password|secret|insecure-password)[ \t]{1,4}(?:\d{1,2}[ \t]{1,4})?["']?([^\s"']{6,200})/g,
  },
  // `enable secret 5 …`, `key-string 7 …`
  {
    rule: "directive",
    hints: ["secret", "password", "key", "md5"],
    pattern:
      /(?:secret|password|key|string|md5)[ \t]{1,4}\d{1,2}[ \t]{1,4}(?<=^[ \t]{0,20}[a-z][a-z -]{0,60}(?:secret|password|key|key-string|md5|pre-shared-key)[ \t]{1,4}\d{1,2}[ \t]{1,4})([^\s"']{6,200})/gm,
  },
  // `auth = ("user", "…")`, `auth: ['user', '…']`
  {
    rule: "login",
    hints: ["auth", "AUTH", "Auth"],
    pattern:
      /auth\w{0,16}["']?\s{0,4}[=:]\s{0,4}[\w.]{0,24}[([]\s{0,20}["'][\w.@+-]{1,60}["']\s{0,4},\s{0,20}["']([^\s"'<>${}]{6,100})["']\s{0,8}[)\]]/gi,
  },
  // nginx's `map $http_x_token $ok { "…" 1; }`
  {
    rule: "directive",
    hints: ["map "],
    strict: true,
    pattern:
      /\bmap[ \t]{1,4}\$\w{0,40}(?:token|key|secret|auth)\w{0,20}[ \t]{1,4}\$\w{1,60}[ \t]{0,4}\{[^{}"']{0,400}["']([^\s"']{16,200})["'][ \t]/g,
  },
  // Asterisk's `register => user:…@host`
  {
    rule: "login",
    hints: ["register"],
    pattern: /\bregister[ \t]{0,4}=>?[ \t]{0,4}[\w.+-]{2,60}:([^\s"'`@:/<>{}]{6,64})@[\w-]{1,40}\./g,
  },
  // postfix's `[relay]:587 user:…`
  {
    rule: "login",
    hints: [":"],
    strict: true,
    maxCharacters: 4_000,
    pattern: /^\[?[\w-]{1,40}\.[\w.-]{2,80}\]?(?::\d{2,5})?[ \t]{1,20}[\w.@+-]{1,60}:([^\s"'`:/]{8,100})[ \t]{0,4}$/gm,
  },
  // `login with …`
  {
    rule: "login",
    hints: ["og in with", "ogin with", "ogged in with", "ign in with"],
    strict: true,
    pattern:
      /\b(?:[Ll]og(?:ged)? ?in|[Ss]ign ?in) with (?:[\w@.+-]{2,40} (?:\/|and|,) )?[`"'*]{0,3}([^\s`"'*]{8,64}?)(?=[.,;:)`"'*]{0,4}(?:\s|$))/gm,
  },
  // `gin.Accounts{"admin": "…"}`, `users: { 'admin': '…' }`
  {
    rule: "accounts",
    hints: ["accounts", "users", "logins", "auth", "credentials"],
    pattern:
      /\b(?:accounts|users|logins|basic_?auth(?:_?users)?|credentials)\b["']?\s{0,4}(?:=>|[:=])?\s{0,4}[{[(]\s{0,20}["'][\w.@-]{1,40}["']\s{0,4}(?:=>|:|,)\s{0,4}["']([^\s"']{8,100})["']/gi,
  },
  {
    rule: "bundler",
    hints: ["BUNDLE_"],
    pattern: /\bBUNDLE_\w{3,80}["']?\s{0,4}[:=]\s{0,4}["']?[\w.@-]{1,60}:([^\s"']{6,200})/g,
  },
  {
    rule: "cookie",
    hints: ["ookie=", "ookie:", "ookie ", 'ookie"', "ookie'", "ookie,"],
    pattern:
      /\bcookie["']?(?:\s{0,4}[:=,]\s{0,4}|[ \t])\[?["'`]?(?:[\w.-]{1,60}=[^;\s"'`]{0,200};\s{0,4}){0,8}?[\w.-]{0,30}(?:sess|sid|auth|token|jwt|remember|login|secret)[\w.-]{0,30}=([^;\s"'`\\%]{16,400})(?!%)/gi,
  },
  {
    rule: "login",
    hints: ["og in", "ogin", "ogged in", "ign in", "ignin"],
    pattern:
      /\b(?:[Ll]og ?in|[Ll]og in|[Ll]ogged in|[Ss]ign ?in)\b[^\n"'`]{0,40}["'`][\w.@+-]{2,60}["'`]\s{0,4}(?:\/|:|,|and|with)\s{0,4}["'`]([^\s"'`]{8,100})["'`]/g,
  },
  {
    rule: "connection-string",
    hints: ["@tcp("],
    pattern: /["'`][\w.-]{1,60}:([^\s"'`@/]{6,100})@tcp\(/g,
  },
  {
    rule: "connection-string",
    hints: ["thin:", "sqlplus", "sqlldr", "expdp", "impdp"],
    pattern: /\b(?:thin:|(?:sqlplus|sqlldr|expdp|impdp)\s{1,4}(?:-\w\s{1,4})?["']?)[\w.-]{1,40}\/([^\s@"'/]{6,100})@/g,
  },
  {
    rule: "basic-credentials",
    hints: ["btoa", "b64encode", "Buffer.from", "encodeBase64", "encodeToString", "base64_encode", "USERPWD"],
    pattern:
      /(?:\bbtoa|b64encode|Buffer\.from|encodeBase64|encodeToString|base64_encode|USERPWD)[^\n"'`]{1,40}b?["'`][\w.@+-]{1,60}:([^"'`\n]{6,200})["'`]/g,
  },
  {
    rule: "sql-password",
    words: true,
    hints: ["IDENTIFIED "],
    pattern: /\bIDENTIFIED (?:WITH \w{1,40} )?BY (?:PASSWORD )?["']([^"'\n]{6,200})["']/g,
  },
  {
    rule: "sql-password",
    words: true,
    hints: ["identified "],
    pattern: /\bidentified (?:with \w{1,40} )?by (?:password )?["']([^"'\n]{6,200})["']/g,
  },
  {
    rule: "connection-string",
    words: true,
    hints: ["Password", "Pwd", "PWD", "SharedAccessKey", "AccountKey", "AccessKey", "SharedSecretValue"],
    pattern:
      /(?:;|["'])(?:Password|Pwd|PWD|SharedAccessKey|AccountKey|AccessKey|SharedSecretValue)\s{0,4}=\s{0,4}([^;"'\s<]{6,200})/g,
  },
  // `UPDATE settings SET value = '…' WHERE name = 'smtp_password'`
  {
    rule: "sql-password",
    hints: ["where ", "WHERE "],
    pattern:
      /\bset\s{1,8}["'`]?\w{0,30}value["'`]?\s{0,4}=\s{0,4}'([^'\n]{6,300})'\s{1,8}where\s[^\n;]{0,60}?'[\w.-]{0,40}(?:pass|secret|token|key|pwd|cred)/gi,
  },
  // `sentinel auth-pass name …`, `rootpw --plaintext …`
  {
    rule: "directive",
    words: true,
    hints: ["auth-pass", "rootpw"],
    pattern:
      /^[ \t]{0,20}(?:(?:sentinel[ \t]{1,4})?auth-pass[ \t]{1,4}[\w.-]{1,60}|rootpw(?:[ \t]{1,4}--plaintext)?)[ \t]{1,4}([^\s"'<>]{6,200})$/gm,
  },
  // Java makes arrays of characters of passwords only.
  {
    rule: "argument",
    hints: [".toCharArray()"],
    pattern: /"([^\s"\\]{8,64})"\.toCharArray\(\)/g,
  },
  // `user/pw: name / …`
  {
    rule: "login",
    hints: ["/pw", "/ pw", "/pass", "/ pass", "/Pass", "/ Pass"],
    strict: true,
    pattern:
      /\b(?:user|login|name)(?:name)?s? ?\/ ?(?:pw|pass(?:wor[dt])?)\b[:=]? {0,2}[`*"']{0,3}[\w.@-]{2,40}[`*"']{0,3} ?[/:] ?[`*"']{0,3}([^\s`"'*/]{8,64})/gi,
  },
  // `{PLAIN}…`
  {
    rule: "directive",
    hints: ["{PLAIN}", "{CLEAR}", "{CLEARTEXT}", "{noop}"],
    pattern: /\{(?:PLAIN|CLEAR|CLEARTEXT|noop)\}([^\s:"']{6,200})/g,
  },
  {
    rule: "directive",
    hints: ["<auth-user-pass>"],
    pattern: /<auth-user-pass>\s{1,8}\S{1,100}[ \t]{0,8}\r?\n([^\s<]{6,200})/g,
  },
  // `("user@host", "…")`, `["admin", "…"]`
  {
    rule: "login",
    hints: [
      "@",
      "dmin",
      "root",
      "user",
      "sysdba",
      '"sa"',
      "'sa'",
      "`sa`",
      "postgres",
      "elastic",
      "operator",
      "service",
      "guest",
      "deploy",
      "jenkins",
    ],
    strict: true,
    pattern: new RegExp(
      String.raw`["'\x60](?:[\w.+-]{1,60}@[\w-]{1,40}\.[\w.-]{2,40}|${USERS})["'\x60]\s{0,4}(?:,|:|=>)\s{0,20}(?:\w{1,20}\s{0,2}[:=(]\s{0,2}){0,2}["'\x60]([^\s"'\x60\\]{8,64})["'\x60]`,
      "g",
    ),
  },
  // In prose: `admin / …`, `credentials: user / …`
  {
    rule: "login",
    hints: ["admin /", "admin/", "admin:", "root /", "root/", "root:", "elastic:", "redential", "og in", "ogin"],
    strict: true,
    pattern: new RegExp(
      String.raw`\b(?:${USERS}|(?:[Cc]redentials?|[Ll]og ?in)\b[^\n]{0,40}?[ \x60*"'][\w.@-]{2,40})[\x60*"']{0,3}(?: ?/ ?|: ?)[\x60*"']{0,3}([^\s"'\x60*]{8,64})`,
      "g",
    ),
  },
  // `user@host / …`
  {
    rule: "login",
    hints: ["@"],
    pattern:
      /@[\w-]{1,40}\.[\w.-]{2,60} ?(?:\/|\||,? pw:?|,? password:?) ?(?<=[\w.+]@[^@\n]{0,120})[`*"']{0,3}(?=\S{0,64}\d)([^\s`"'*/]{8,64})(?=[`"'*.,;)]{0,3}(?:\s|$))/g,
  },
  // `admin / …`
  {
    rule: "login",
    hints: USERS.split("|").map((user) => `${user} / `),
    pattern: new RegExp(
      String.raw`\b(?:${USERS}) / [\x60*"']{0,3}(?=\S{4,62}\d\d)([^\s\x60"'*/]{8,64})(?=[\x60"'*.,;)]{0,3}(?:\s|$))`,
      "g",
    ),
  },
  // pgbouncer's `"user" "…"`
  { rule: "login", hints: ['" "'], pattern: /^"[\w.@-]{1,60}" "([^"\s]{6,200})"[ \t]{0,4}$/gm },
  // A line of `user:…`
  {
    rule: "login",
    hints: [":"],
    strict: true,
    maxCharacters: 4_000,
    pattern: /^[a-z_][\w.@-]{1,31}:([^\s"'`:/,;]{8,64})$/gm,
  },
  // ipsec.secrets: `name : XAUTH "…"`
  {
    rule: "directive",
    hints: ["XAUTH", "EAP ", "PSK "],
    pattern: /[ \t:](?:XAUTH|EAP|PSK)[ \t]{1,4}["']([^"'\n]{6,200})["']/g,
  },
  // squid's `login=user:…`
  { rule: "directive", hints: ["login="], pattern: /\blogin=[\w.@-]{1,40}:([^\s"'`&]{6,200})/g },
  // chap-secrets: client, server, secret, addresses
  {
    rule: "directive",
    hints: ["*", "."],
    strict: true,
    maxCharacters: 8_000,
    pattern:
      /^["']?[\w.*@\\-]{1,60}["']?[ \t]{1,20}["']?[\w.*-]{1,60}["']?[ \t]{1,20}["']?([^\s"'#]{8,64})["']?[ \t]{1,20}(?:\*|\d[\d./]{6,18})[ \t]{0,20}$/gm,
  },
  {
    rule: "directive",
    hints: ["isakmp"],
    pattern: /\bisakmp key[ \t]{1,4}(?:\d[ \t]{1,4})?(\S{6,128})[ \t]{1,4}(?:address|hostname)/g,
  },
  {
    rule: "directive",
    hints: ["ommunity"],
    pattern: /ommunity(?:_?[Ss]tring|_?[Nn]ame)?["']?[ \t]{0,4}[:=][ \t]{0,4}["']?([^\s"',;]{8,64})/g,
  },
];
