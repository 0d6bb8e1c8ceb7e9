import { describe, expect, it } from "vitest";
import { findSecrets } from "../../../../src/parsing/secrets/find.ts";
import { SHAPE_RULES } from "../../../../src/parsing/secrets/shape-rules.ts";
import { TOKEN_RULES } from "../../../../src/parsing/secrets/token-rules.ts";

const MEGABYTE = 1_000_000;
// Limits leave room for a busy machine: anything worse than linear takes minutes.

const fill = (unit: string): string => unit.repeat(Math.ceil(MEGABYTE / unit.length)).slice(0, MEGABYTE);

/** Beginnings of what is looked for, over and over, so that every try goes as far as it can and fails. */
const UNITS: readonly string[] = [
  "a",
  "A",
  "0",
  "f",
  "-",
  "_",
  " ",
  "\n",
  "\t",
  "=",
  ":",
  '"',
  "'",
  "`",
  "\\",
  "/",
  ".",
  "$",
  "{",
  "(",
  "<",
  "%",
  "é",
  "🙂",
  "key",
  "keykey_",
  "KEY=",
  "key='",
  'key="\n',
  "password ",
  "password=",
  "password: ",
  "passwordpassword",
  '"password", ',
  "password =\n",
  "<password>",
  "name: API_KEY\n",
  "token: string ",
  "--token ",
  "secret(",
  "secret = f(",
  "://",
  "://a",
  "://a:b",
  "://a:b@",
  "a://a:bbbbbbb",
  "Basic ",
  "Basic YTpi",
  "Bearer ",
  "-u a:",
  "machine a login a ",
  "a:1:a:a:",
  "a:1:a:a:bbbbbbbb ",
  "mysql -",
  "docker docker -",
  "ldapsearch ",
  "IDENTIFIED BY ",
  "IDENTIFIED BY '",
  "-----BEGIN ",
  "-----BEGIN PRIVATE KEY-----",
  "-----BEGIN RSA PRIVATE KEY-----\nA: b\n",
  "-----BEGIN PRIVATE KEY-----\nAAAAAAAAAAAAAAAAAAAA",
  "PuTTY-User-Key-File-3:",
  "PuTTY-User-Key-File-3: Private-Lines:",
  "RWRTY0Iy",
  "kind: Secret\n",
  "kind: Secret\n---\n",
  "kind: Secret\ndata:\n  a: AAAAAAAAAAAA\n",
  '"kty" "d":"',
  '"kty","d":"AAAAAAAAAAAAAAAAAAAAAAAA"',
  "mnemonic: ",
  "mnemonic: abandon ",
  "eyJ",
  "eyJ.",
  "eyJa.eyJa.",
  "eyJaaaaaaaaaa.aaaaaaaaaa.",
  ";Password=",
  "sig=",
  "&sig=aaa",
  "$2a$",
  "$1$a$",
  "$argon2id$v=1$m=1$",
  "{SSHA}",
  "define('AUTH_KEY','",
  "https://hooks.slack.com/services/",
  "LS0tLS1CRUdJTi",
  "MIIEvQIBADAN",
  "identified with a ",
  "aB3",
  "aB3_",
  "aB3-xY7.",
  "mnemonic phrase ",
  "auth_auth-",
  "ABSK",
  "AccountKey=",
  "MIICXAIBAA\\\\n",
  'password || "',
  'token ?? "aB3xY7aB3xY7" ',
  "token ??\n",
  "password {",
  "password {a}",
  "password {{",
  "password:\n a\n",
  'password", value',
  "password {a} default",
  "| password |\n",
  "| password | a |\n",
  "password,a\n",
  "a|password",
  "insert into users (password) values (",
  "insert into users (password) values ('a'),\n",
  "insert into users values ('",
  "cG9zdGdyZXM6Ly9h",
  "cGFzc3dvcmQ9YUIzeFk3YUIzeFk3YUIz\n",
  "cookie: a=b; ",
  "cookie sid=",
  "curl -b ",
  "connect(",
  'login("a", "',
  "echo a | ",
  "sqlplus a/",
  "btoa('a:",
  'log in "aa" / ',
  "chpasswd a:b",
  "<password a>",
  "password><a><a>",
  "password</a><a",
  "password\n```\n",
  "token → ",
  "password=<<A\n",
];

/** The units with the largest constant, as long as a file can be said to be of source at all. */
const WORST = [
  "password {a}",
  "token ??\n",
  "| password | a |\n",
  "AccountKey=",
  "password=",
  "Bearer ",
  "--token ",
  "key='",
  "://a:b",
  "fm2_",
  "eyJ",
  "aB3_",
];

describe("the search for secrets takes linear time", () => {
  it.each(WORST.map((unit) => ({ unit })))("on a megabyte of $unit", ({ unit }) => expectFast(fill(unit), 30_000));

  it.each(UNITS.map((unit) => ({ unit })))("on $unit, repeated", ({ unit }) =>
    expectFast(fill(unit).slice(0, 100_000), 5_000),
  );

  it("on the prefixes of every rule, repeated", () => {
    const hints = [...TOKEN_RULES.flatMap((rule) => rule.prefixes), ...SHAPE_RULES.flatMap((rule) => rule.hints)];
    for (const hint of hints)
      for (const unit of [hint, `${hint}aB3xY7`, ` ${hint}`]) expectFast(fill(unit).slice(0, 8_000), 2_000);
  });
});

function expectFast(text: string, ms: number): void {
  const begin = performance.now();
  findSecrets(text);
  expect(performance.now() - begin).toBeLessThan(ms);
}
