/** The next place of a text. Asked in about ascending order, all questions together read the text about once. */
export class NextOf {
  readonly #text: string;
  readonly #needle: string;
  #asked = 0;
  #at = -1;

  constructor(text: string, needle: string) {
    this.#text = text;
    this.#needle = needle;
  }

  /** The place, or the end of the text. */
  from(position: number): number {
    if (position < this.#asked) {
      // A little back: what lies between has not been looked at.
      const at = this.#text.slice(position, this.#asked).indexOf(this.#needle);
      if (at !== -1) return position + at;
    }
    if (this.#at < position) {
      const at = this.#text.indexOf(this.#needle, position);
      this.#at = at === -1 ? this.#text.length : at;
      this.#asked = position;
    }
    return this.#at;
  }
}
