/**
 * Kinds of secrets as they stand in repositories. Samples are drawn when the test runs, so that no file of this
 * repository holds anything that a scanner would take for a leak.
 */

export interface Random {
  (limit: number): number;
}

export const DIGITS = "0123456789";
export const LOWER = "abcdefghijklmnopqrstuvwxyz";
export const UPPER = LOWER.toUpperCase();
const SYMBOLS = "!#%&*+-=?@^_~";

/** What a sample is made of. */
export class Draw {
  readonly #random: Random;

  constructor(random: Random) {
    this.#random = random;
  }

  from(alphabet: string, length: number): string {
    return Array.from({ length }, () => alphabet[this.#random(alphabet.length)]).join("");
  }
  hex = (length: number): string => this.from("0123456789abcdef", length);
  upperHex = (length: number): string => this.from("0123456789ABCDEF", length);
  digits = (length: number): string => this.from("123456789", 1) + this.from(DIGITS, length - 1);
  lower = (length: number): string => this.from(LOWER + DIGITS, length);
  upper = (length: number): string => this.from(UPPER + DIGITS, length);
  base32 = (length: number): string => this.from(`${UPPER}234567`, length);
  base62 = (length: number): string => this.from(LOWER + UPPER + DIGITS, length);
  url64 = (length: number): string =>
    this.base62(1) + this.from(`${LOWER + UPPER + DIGITS}-_`, length - 2) + this.base62(1);
  letters = (length: number): string => this.from(LOWER + UPPER, length);
  bytes = (length: number): Buffer => Buffer.from(Array.from({ length }, () => this.#random(256)));
  base64 = (bytes: number): string => this.bytes(bytes).toString("base64");
  uuid = (): string =>
    `${this.hex(8)}-${this.hex(4)}-4${this.hex(3)}-${this.from("89ab", 1)}${this.hex(3)}-${this.hex(12)}`;
  /** A generated password with symbols. */
  strong = (length: number): string => this.from(LOWER + UPPER + DIGITS + SYMBOLS, length);
  pick = <T>(items: readonly T[]): T => items[this.#random(items.length)] as T;
  encode = (text: string): string => Buffer.from(text).toString("base64");
  jwt(): string {
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
    const payload = { sub: this.uuid(), iat: 1_700_000_000 + this.#random(1e7), role: "service" };
    return `${part({ alg: "HS256", typ: "JWT" })}.${part(payload)}.${this.url64(43)}`;
  }
  pem(label: string): string {
    const lines = this.base64(600).match(/.{1,64}/g) ?? [];
    return `-----BEGIN ${label}-----\n${lines.join("\n")}\n-----END ${label}-----`;
  }
}

export type Kind = readonly [name: string, sample: (draw: Draw) => string];
