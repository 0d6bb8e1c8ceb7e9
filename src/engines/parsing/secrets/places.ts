/** Places where only a password can occur: directives, command lines, statements of SQL, connection strings. */

/** Group 1 is the password. Every pattern is bounded. */
export const PASSWORD_PLACES: readonly { rule: string; hints: readonly string[]; pattern: RegExp }[] = [
  {
    rule: "netrc",
    hints: ["password"],
    pattern:
      /\b(?:machine\s{1,20}\S{1,200}|default)\s{1,20}login\s{1,20}\S{1,200}\s{1,20}(?:account\s{1,20}\S{1,200}\s{1,20})?password\s{1,20}([^\s"'\\]{1,300})/g,
  },
  {
    rule: "pgpass",
    hints: [":"],
    // What comes first is looked at last: few lines have such a number.
    pattern: /:(?:\d{2,5}|\*):(?<=^[\w.*-]{1,200}:(?:\d{2,5}|\*):)[\w*-]{1,60}:[\w*.@-]{1,60}:([^\s"'`,;)]{6,200})$/gm,
  },
  {
    rule: "command-line",
    hints: ["-u ", "-u=", "--user", "--proxy-user", "--auth", "--creds"],
    pattern: /(?<![\w-])(?:-u|--user|--proxy-user|--auth|--creds)[ =]["']?[\w.@+-]{1,80}:([^\s"'`]{6,200})/g,
  },
  {
    rule: "command-line",
    hints: [
      "sshpass",
      "mysql",
      "docker",
      "podman",
      "ldap",
      "redis-cli",
      "mongo",
      "sqlcmd",
      "smbclient",
      "az ",
      "oc ",
      "helm",
      "skopeo",
      "crane",
      "buildah",
    ],
    pattern:
      /\b(?:sshpass|mysql\w{0,8}|docker|podman|ldap\w{3,8}|redis-cli|mongo\w{0,8}|sqlcmd|smbclient|az|oc|helm|skopeo|crane|buildah)\b[^\n]{0,160}?[\s"']-{1,2}(?:[paPw]|password)[ =]?["']?([^\s"'`-][^\s"'`]{7,200})/g,
  },
  {
    rule: "command-line",
    hints: ["openssl"],
    pattern: /\bopenssl\b[^\n]{0,160}?\s-(?:k|pass(?:in|out)?\s{1,4}["']?pass:)\s{0,4}["']?([^\s"'`-][^\s"'`]{5,200})/g,
  },
  {
    rule: "command-line",
    hints: ["htpasswd"],
    pattern:
      /\bhtpasswd\s{1,4}(?:-\w{1,8}\s{1,4}){0,4}-\w{0,8}b\w{0,8}\s{1,4}(?:-\w{1,8}\s{1,4}){0,4}\S{1,200}\s{1,4}[\w.@-]{1,60}\s{1,4}["']?([^\s"'`]{6,200})/g,
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
  // `gin.Accounts{"admin": "…"}`, `users: { 'admin': '…' }`
  {
    rule: "accounts",
    hints: ["accounts", "users", "logins", "auth", "credentials"],
    pattern:
      /\b(?:accounts|users|logins|basic_?auth(?:_?users)?|credentials)\b["']?\s{0,4}(?:=>|[:=])?\s{0,4}[{[(]\s{0,20}["'][\w.@-]{1,40}["']\s{0,4}(?:=>|:|,)\s{0,4}["']([^\s"']{8,100})["']/gi,
  },
  {
    rule: "command-line",
    hints: ["lftp"],
    pattern: /\blftp\s[^\n]{0,80}?-u\s{1,4}[\w.@-]{1,60},([^\s"'`]{6,200})/g,
  },
  {
    rule: "command-line",
    hints: ["ssh-keygen"],
    pattern: /\bssh-keygen\b[^\n]{0,120}?\s-[NP]\s{1,4}["']?([^\s"']{6,200})/g,
  },
  {
    rule: "command-line",
    hints: ["chpasswd"],
    pattern: /(?<=^[ \t]{0,20}(?:- )?|echo\s{1,4}["']?)[\w-]{1,32}:([^\s"'|]{6,200})(?=["']?\s{0,4}(?:\||$))/gm,
  },
  {
    rule: "command-line",
    hints: ["-stdin", "-fd", "sudo -S"],
    pattern:
      /\b(?:echo|printf)\s{1,4}(?:-n\s{1,4}|'%s'\s{1,4})?["']?([^\s"'|$]{8,256})["']?\s{0,4}\|\s{0,4}[^\n|]{0,80}?(?:--password-stdin|--passphrase-fd|sudo -S)/g,
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
      /\bcookie["']?(?:\s{0,4}[:=,]\s{0,4}|[ \t])["'`]?(?:[\w.-]{1,60}=[^;\s"'`]{0,200};\s{0,4}){0,8}?[\w.-]{0,30}(?:sess|sid|auth|token|jwt|remember|login|secret)[\w.-]{0,30}=([^;\s"'`\\%]{16,400})(?!%)/gi,
  },
  {
    rule: "cookie",
    hints: ["curl"],
    pattern:
      /\bcurl\b[^\n]{0,200}?\s-b\s{0,4}["']?[\w.-]{0,30}(?:sess|sid|auth|token|jwt|remember|login|secret)[\w.-]{0,30}=([^;\s"'\\%]{16,400})(?!%)/gi,
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
      /(?:\bbtoa|b64encode|Buffer\.from|encodeBase64|encodeToString|base64_encode|USERPWD)\W{1,6}b?["'`][\w.@+-]{1,60}:([^\s"'`]{6,200})["'`]/g,
  },
  {
    rule: "sql-password",
    hints: ["IDENTIFIED "],
    pattern: /\bIDENTIFIED (?:WITH \w{1,40} )?BY (?:PASSWORD )?["']([^"'\n]{6,200})["']/g,
  },
  {
    rule: "sql-password",
    hints: ["identified "],
    pattern: /\bidentified (?:with \w{1,40} )?by (?:password )?["']([^"'\n]{6,200})["']/g,
  },
  {
    rule: "connection-string",
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
  // `{PLAIN}…`
  {
    rule: "directive",
    hints: ["{PLAIN}", "{CLEAR}", "{CLEARTEXT}"],
    pattern: /\{(?:PLAIN|CLEAR|CLEARTEXT)\}([^\s:"']{6,200})/g,
  },
  {
    rule: "directive",
    hints: ["<auth-user-pass>"],
    pattern: /<auth-user-pass>\s{1,8}\S{1,100}[ \t]{0,8}\r?\n([^\s<]{6,200})/g,
  },
  {
    rule: "command-line",
    hints: ["http -", "https -", "http ", "xh "],
    pattern:
      /(?:^|[\s;&|])(?:https?|xh)[ \t]{1,4}(?:[^\n]{0,80}?[ \t])?-a[ \t]{1,4}["']?[\w.@+-]{1,80}:([^\s"'`]{6,200})/gm,
  },
  {
    rule: "command-line",
    hints: ["zip "],
    pattern: /\b(?:zip|unzip)[ \t][^\n]{0,80}?-P[ \t]{0,4}["']?([^\s"'`-][^\s"'`]{5,200})/g,
  },
];
