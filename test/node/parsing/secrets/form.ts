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
