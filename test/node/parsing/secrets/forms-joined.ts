/** Secrets that code writes in parts, in bytes or in short base64, and names of secrets in other languages. */
import { chosen, chosenStrong, encoded, env, form, hex, password, token, type Form } from "./form.ts";
import type { Draw } from "./draw.ts";

const split = (secret: string, parts: number): string[] =>
  Array.from({ length: parts }, (_, i) =>
    secret.slice(Math.floor((i * secret.length) / parts), Math.floor(((i + 1) * secret.length) / parts)),
  );
/** A form whose secret is written in parts, of which the first is looked for. */
const parted = (name: string, make: (d: Draw) => string, write: (parts: string[]) => string): Form => [
  name,
  (d) => {
    const parts = split(make(d), 3);
    return { text: write(parts), secrets: [parts[0]!] };
  },
];
const words = (d: Draw) => `${d.pick(["copper", "harbor", "maple"])}&${d.pick(["kettle", "lantern", "otter"])}`;

export const JOINED: readonly Form[] = [
  parted(
    "a token of literals joined by plus",
    (d) => `ghp_${d.base62(36)}`,
    ([a, b, c]) => `GH = "${a}" + "${b}" + "${c}"\n`,
  ),
  parted("a key of literals joined by plus", token, ([a, b, c]) => `const apiKey = '${a}' +\n  '${b}' +\n  '${c}';\n`),
  parted(
    "a URL of adjacent literals",
    password,
    ([a, b, c]) => `open(\n    "mysql://sync:"\n    "${a}${b}"\n    "${c}@db.acme.dev/crm",\n)`,
  ),
  parted("literals joined by points", token, ([a, b, c]) => `$api_key = '${a}' . '${b}' . '${c}';\n`),
  parted(
    "a list joined by nothing",
    token,
    ([a, b, c]) => `API_KEY = "".join([\n    "${a}",\n    "${b}",\n    "${c}",\n])\n`,
  ),
  parted("an array joined by nothing", token, ([a, b, c]) => `const apiKey = ["${a}", "${b}", "${c}"].join("");\n`),
  [
    "an array joined by dashes",
    (d) => {
      const parts = ["xoxp", d.digits(12), d.digits(12), d.digits(13), d.hex(32)];
      return { text: `const slack = ['${parts.join("', '")}'].join('-');`, secrets: [parts[4]!] };
    },
  ],
  form(
    "bytes of a key",
    (d) => Array.from(d.bytes(16), (byte) => `0x${byte.toString(16).padStart(2, "0")}`).join(", "),
    (s) => `static const uint8_t hmac_key[16] = {\n    ${s}\n};\n`,
  ),
  form(
    "signed bytes of a key",
    (d) =>
      Array.from(d.bytes(32), (byte) => `(byte) 0x${byte.toString(16).padStart(2, "0")}`)
        .join(", ")
        .slice("(byte) ".length),
    (s) => `byte[] SECRET_KEY = { (byte) ${s} };\n`,
  ),
  encoded(
    "a pair in decoded base64",
    (d) => `sync:${chosenStrong(d)}`,
    (c) => `auth = base64.b64decode("${c}").decode()`,
  ),
  encoded(
    "a pair in base64 of a shell",
    (d) => `sync:${password(d)}`,
    (c) => `echo ${c} | base64 -d > login`,
  ),
  form(
    "a literal without a telling name",
    (d) => `${d.base62(31)}aB3cD4`,
    (s) => `static const restClient = '${s}';\n`,
  ),
  form("a getter's value", chosen, (s) => `private char[] storePassword() {\n    return "${s}".toCharArray();\n}`),
  form("a computed property", chosen, (s) => `var password: String { "${s}" }`),
  form("an assignment of R", chosen, (s) => `db_password <- "${s}"\n`),
  form("a pair of a client's login", chosen, (s) => `session.auth = ("sync", "${s}")`),
  form("a map of nginx", hex, (s) => `map $http_x_token $ok {\n    default 0;\n    "${s}" 1;\n}\n`),
  form("a query of a URL", hex, (s) => `uri: https://api.acme.dev/v2/forecast?lat=1&appid=${s}\n`),
  form(
    "a flag of codecov",
    (d) => d.uuid(),
    (s) => `bash <(curl -s https://codecov.io/bash) -t ${s}\n`,
  ),
  form(
    "a bot in a URL",
    (d) => `${d.digits(10)}:AA${d.url64(33)}`,
    (s) => `wget "https://api.telegram.org/bot${s}/send"`,
  ),
  form(
    "a parameter that is not echoed",
    chosen,
    (s) => `  Master:\n    Type: String\n    NoEcho: true\n    Default: ${s}\n`,
  ),
  form("a default that is not echoed", chosen, (s) => `  Master:\n    Default: ${s}\n    NoEcho: true\n`),
  form("a sensitive variable", chosen, (s) => `variable "master" {\n  default = "${s}"\n  sensitive = true\n}\n`),
  form(
    "a variable, sensitive first",
    chosen,
    (s) => `variable "master" {\n  sensitive = true\n  default   = "${s}"\n}\n`,
  ),
  form("login with", chosenStrong, (s) => `- Rider: sam@acme.dev, log in with ${s}\n`),
  form(
    "digits of a salt",
    (d) => d.digits(39),
    (s) => `PASSWORD_SALT = "${s}"\n`,
  ),
  form("words joined by signs", words, (s) => `conn(user = "sam", password = "${s}")`),
  form(
    "words that XML escapes",
    (d) => words(d).replace("&", "&amp;"),
    (s) => `<property name="db.password" value="${s}"/>`,
  ),
  form(
    "words joined by dashes",
    (d) => `${d.pick(["copper", "walnut"])}-kettle-on-fire`,
    (s) => `  PGPASSWORD: ${s}\n`,
  ),
  form(
    "words in a URL",
    (d) => `${d.pick(["Copper", "Walnut"])}.of.eight`,
    (s) => `amqps://jobs:${s}@mq.acme.dev:5671/jobs`,
  ),
  form("Portuguese", password, (s) => `SENHA_SMTP='${s}'\n`),
  form("Spanish", chosen, (s) => `'contraseña' => '${s}',`),
  form("German", chosen, (s) => `datenbankpasswort: ${s}\n`),
  form("French", chosen, (s) => `motDePasseBdd = "${s}"`),
  form("Dutch", chosen, (s) => `wachtwoord="${s}"`),
  form("Polish", chosen, (s) => `haslo = "${s}"`),
  form("Russian", chosen, (s) => `| Пользователь | Пароль |\n| --- | --- |\n| sam | ${s} |\n`),
  form("Chinese", chosen, (s) => `数据库密码：${s}\n`),
  form("a key in Portuguese", token, (s) => `"ChaveAssinatura": "${s}"`),
  form("words that signs join under a secret's name", words, (s) => `client sw01 {\n    secret = ${s}\n}\n`),
  form(
    "words with capitals without quotes",
    (d) => `${d.pick(["Copper", "Walnut"])}_Kettle`,
    (s) => `      password: ${s}\n`,
  ),
  form("a pair of Elixir", chosen, (s) => `Req.get!(url, auth: {:basic, "sync:${s}"})`),
  form(
    "a match of F#",
    token,
    (s) => `match Environment.GetEnvironmentVariable "API_KEY" with\n| null -> "${s}"\n| k -> k\n`,
  ),
  form(
    "a match of Rust",
    chosen,
    (s) => `let p = match env::var("DB_PASSWORD") {\n    Ok(v) => v,\n    Err(_) => "${s}".into(),\n};`,
  ),
  form("a variable of a pipeline", token, (s) => `echo "##vso[task.setvariable variable=deployKey]${s}"`),
  form("a mask of a workflow", token, (s) => `echo "::add-mask::${s}"`),
  encoded("LDIF in base64", chosen, (c) => `dn: uid=sam\nuserPassword:: ${c}\n`),
  form(
    "a pass phrase with a digit",
    (d) => `three ${d.pick(["copper", "walnut"])} kettles jump over 1 fence`,
    (s) => `password: "${s}"\n`,
  ),
  form("a header that haproxy compares", token, (s) => `http-request deny unless { req.hdr(x-edge-key) -m str ${s} }`),
  form(
    "words as a SecureString",
    (d) => `${d.pick(["Copper", "Walnut"])}#Kettle`,
    (s) => `$p = ConvertTo-SecureString "${s}" -AsPlainText -Force`,
  ),
  form("an unattended setup", chosen, (s) => `<Password><PlainText>true</PlainText><Value>${s}</Value></Password>`),
  form("a property of Delphi", chosen, (s) => `Connection.Properties['Password'].Value := '${s}';`),
  form(
    "a registration at an address",
    (d) => chosenStrong(d).replace("@", "!"),
    (s) => `register => 442079:${s}@sip.acme.dev/1000`,
  ),
  form("postfix's relay", chosenStrong, (s) => `[smtp.relay.dev]:587 acme:${s}\n`),
  form(
    "a credential of C#",
    (d) => `House-Lights-${d.pick(["Down", "Up"])}${d.digits(2)}`,
    (s) => `NetworkCredential proxy = new("kiosk", "${s}", "ACME");`,
  ),
  form("a signed string of Go", token, (s) => `token.SignedString([]byte("${s}"))`),
  form("a joined name of a password", chosen, (s) => `public $smtppass = '${s}';`),
  form(
    "arguments behind an address",
    chosenStrong,
    (s) => `Sql.newInstance("jdbc:mysql://db1/clinic", "import", "${s}", driver)`,
  ),
  form(
    "a password with slashes",
    (d) => `Copper/Kettle/${d.digits(2)}`,
    (s) => `get(ENV, "DB_PASSWORD", "${s}")`,
  ),
  encoded("base64 in front of another variable", env, (c) => `BUNDLE=${c}\nSENTRY_RELEASE=a1\n`),
];
