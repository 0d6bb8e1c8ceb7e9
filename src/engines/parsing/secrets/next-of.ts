/** Finds the next match in a text. If positions are queried in roughly ascending order, the text is read about once in total. */
export class NextOf {
  readonly #text: string;
  readonly #needle: string;
  #asked = 0;
  #at = -1;

  constructor(text: string, needle: string) {
    this.#text = text;
    this.#needle = needle;
  }

  /** Position of the match, or the end of the text. */
  from(position: number): number {
    if (position < this.#asked) {
      // The query goes back a little: the text in between has not been searched.
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
