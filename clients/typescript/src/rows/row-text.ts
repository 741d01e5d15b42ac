const quote = 34;
const comma = 44;
const backslash = 92;
const bracket = { open: 91, close: 93 } as const;
const brace = { open: 123, close: 125 } as const;

/** Cuts the text of an array of rows, which comes in pieces, behind whole rows. */
export class RowText {
  #rest = '';
  /** The place up to which `#rest` was read. */
  #at = 0;
  #depth = 0;
  #isInString = false;
  #isOver = false;

  /** Whether the bracket that closes the array has come. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** The text behind that bracket. */
  get behind(): string {
    return this.#isOver ? this.#rest : '';
  }

  /** The rows that are whole now, with commas between them; empty where none is. */
  push(piece: string): string {
    this.#rest += piece;
    if (this.#isOver) return '';
    let end = 0;
    const text = this.#rest;
    let at = this.#at;
    for (; at < text.length; at++) {
      const code = text.charCodeAt(at);
      if (this.#isInString) {
        if (code === backslash) at += 1;
        else if (code === quote) this.#isInString = false;
      } else if (code === quote) this.#isInString = true;
      else if (code === bracket.open || code === brace.open) this.#depth += 1;
      else if (code === bracket.close || code === brace.close) {
        if (this.#depth === 0) {
          this.#isOver = true;
          this.#rest = text.slice(at + 1);
          return withoutComma(text.slice(0, at));
        }
        this.#depth -= 1;
        if (this.#depth === 0) end = at + 1;
      }
    }
    // Behind a backslash at the end, the next character is passed over, too.
    this.#at = at - end;
    this.#rest = text.slice(end);
    return withoutComma(text.slice(0, end));
  }
}

function withoutComma(rows: string): string {
  return rows.charCodeAt(0) === comma ? rows.slice(1) : rows;
}
