/** Directives, positional arguments, tables of cells, and passwords that people compose. */
import { form, password, token, type Form } from "./form.ts";
import type { Draw } from "./draw.ts";

/** Words, digits and symbols, as policies for passwords ask. */
const composed = (d: Draw) => `Harbor_Lantern${d.hex(12).replaceAll(/\D/g, "").padEnd(4, "83").slice(0, 4)}!`;
const hex32 = (d: Draw) => d.hex(32);

export const DIRECTIVES: readonly Form[] = [
  form("composed password in env", composed, (s) => `MAIL_PASSWORD="${s}"\n`),
  form("composed password in SQL", composed, (s) => `CREATE USER 'app'@'%' IDENTIFIED BY '${s}';\n`),
  form(
    "composed password in a row",
    composed,
    (s) => `INSERT INTO users (id, email, password) VALUES\n(1, 'a@acme.dev', '${s}');\n`,
  ),
  form("SNMP community", password, (s) => `rocommunity ${s} 10.0.0.0/8\n`),
  form("SNMP user", password, (s) => `createUser monitor SHA "${s}" AES "${s}x"\n`),
  form("Redis ACL", token, (s) => `user worker on >${s} ~jobs:* +@all\n`),
  form("router user", password, (s) => `username admin privilege 15 secret 0 ${s}\n`),
  form("LDAP bind_pw", password, (s) => `bind_dn: cn=admin,dc=acme\nbind_pw: ${s}\n`),
  form("accounts of gin", password, (s) => `accounts := gin.Accounts{\n\t"admin": "${s}",\n}\n`),
  form("cookie store", token, (s) => `var store = sessions.NewCookieStore([]byte("${s}"))\n`),
  form("credentials of a call", token, (s) => `smtp.Credentials = new NetworkCredential("mailer", "${s}");\n`),
  form("list of keys", hex32, (s) => `app.use(cookieSession({ name: "session", keys: ["${s}", "${s}"] }));\n`),
  form("key in a section", token, (s) => `{ "Jwt": { "Issuer": "acme", "Key": "${s}" } }\n`),
  form("pepper", token, (s) => `PEPPER=${s}\n`),
  form("hash salt", hex32, (s) => `HASH_SALT=${s}\n`),
  form(
    "SecureString",
    token,
    (s) =>
      `resource "aws_ssm_parameter" "stripe" {\n  name  = "/prod/stripe"\n  type  = "SecureString"\n  value = "${s}"\n}\n`,
  ),
  form("Bicep secret", token, (s) => `  name: 'sqlPassword'\n  properties: {\n    value: '${s}'\n  }\n`),
  form("Markdown list in bold", token, (s) => `## Access\n\n- **Secret**: ${s}\n`),
  form("AsciiDoc table", token, (s) => `|===\n|Environment |API token\n\n|staging\n|${s}\n|===\n`),
  form(
    "HTML table of hosts",
    password,
    (s) => `<table><tr><th>Host</th><th>Password</th></tr><tr><td>db1</td><td>${s}</td></tr></table>\n`,
  ),
  form("COPY rows", token, (s) => `COPY public.clients (id, name, client_secret) FROM stdin;\n1\tweb\t${s}\n\\.\n`),
  form("OpenVPN static key", hex32, (s) => `-----BEGIN OpenVPN Static key V1-----\n${s}\n${s}\n`),
  form("openssl -k", token, (s) => `openssl enc -aes-256-cbc -k ${s} -in a -out b\n`),
  form("htpasswd -b", password, (s) => `htpasswd -b .htpasswd admin ${s}\n`),
  form("az login", token, (s) => `az login --service-principal -u app -p ${s} --tenant t\n`),
  form("key after an arrow", hex32, (s) => `'crypt' => [\n  'key' => '${s}'\n],\n`),
  form("serializer", hex32, (s) => `serializer = URLSafeTimedSerializer("${s}")\n`),
  form("HMAC of Ruby", token, (s) => `OpenSSL::HMAC.hexdigest("SHA256", "${s}", payload)\n`),
  form("PAT", token, (s) => `      args:\n        GITHUB_PAT: ${s}\n`),
  form("HTML code", token, (s) => `<p>Your API key: <code>${s}</code></p>\n`),
  form("SQL update of a setting", token, (s) => `UPDATE settings SET value = '${s}' WHERE name = 'smtp_password';\n`),
  form("plain scheme", password, (s) => `anna:{PLAIN}${s}:1000:1000::/home/anna\n`),
  form("auth-user-pass", password, (s) => `<auth-user-pass>\nvpnuser\n${s}\n</auth-user-pass>\n`),
  form("http -a", password, (s) => `http -a anna:${s} acme.dev\n`),
  form("zip -P", password, (s) => `zip -P ${s} a.zip b\n`),
];
