/** How secrets are put into whole files of many formats. Drawn when the test runs. */
import type { Draw } from "./draw.ts";

export type Form = readonly [name: string, sample: (draw: Draw) => { text: string; secrets: string[] }];

/** A form of one secret: `make` draws it, `write` puts it into a file. */
export const form = (name: string, make: (d: Draw) => string, write: (secret: string, d: Draw) => string): Form => [
  name,
  (d) => {
    const secret = make(d);
    return { text: write(secret, d), secrets: [secret] };
  },
];
/** A form whose secret is stored under an encoding. */
export const encoded = (name: string, plain: (d: Draw) => string, write: (code: string, d: Draw) => string): Form =>
  form(name, (d) => d.encode(plain(d)), write);

export const password = (d: Draw) => d.base62(16);
export const token = (d: Draw) => d.base62(32);
export const hex = (d: Draw) => d.hex(40);
export const strong = (d: Draw) => d.strong(20).replaceAll(/[%&#=?@^]/g, "7");
export const env = (d: Draw) =>
  `NODE_ENV=production\nDB_HOST=db\nDB_PASSWORD=${d.base62(18)}\nAPI_TOKEN=${d.hex(40)}\n`;
export const lines = (text: string, width: number) => (text.match(new RegExp(`.{1,${width}}`, "g")) ?? []).join("\n");

const WORDS =
  "copper kettle falcon harbor maple lantern quartz walnut otter cobalt granite meadow thistle pebble velvet orchid".split(
    " ",
  );
const capital = (word: string) => word[0]!.toUpperCase() + word.slice(1);
/** Passwords as people choose them: two words, digits, sometimes a symbol or a digit for a letter. */
export const chosen = (d: Draw): string => {
  const one = d.pick(WORDS);
  const other = capital(d.pick(WORDS));
  const leet = capital(one).replace(/[aeio]/, (letter) => ({ a: "4", e: "3", i: "1", o: "0" })[letter] ?? letter);
  return d.pick([
    `${one}${other}${d.digits(2)}`,
    `${capital(one)}_${other}${d.digits(1)}`,
    `${one}-${other}-${d.digits(2)}`,
    `${leet}${other}`,
    `${capital(one)}!${other}${d.digits(2)}`,
    `${leet}#${other}`,
  ]);
};
/** The same, with a capital, a digit and a symbol, which count without a name beside them. */
export const chosenStrong = (d: Draw): string =>
  `${capital(d.pick(WORDS))}${d.pick(["!", "#", "$", "@"])}${d.pick(WORDS)}${d.digits(2)}`;
