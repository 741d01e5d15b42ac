import { BACKSLASH, QUOTE } from '@framehold/columns';
import { AppError } from '../../core/errors/app-error.ts';

/** JSON with exact whole numbers: bigint where a double would round. */
export type JsonValue = null | boolean | number | bigint | string | readonly JsonValue[] | JsonObject;
export type JsonObject = ReadonlyMap<string, JsonValue>;

const maxDepth = 64;
/** They are parsed in one go, in 50 ms at most. Keys count, and parts that cost as much as two values count twice. */
const mostJsonValues = 65_536;
const space = /[ \t\n\r]*/y;
const number = /-?(?:0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?/y;
const literals: ReadonlyMap<string, { readonly word: string; readonly meaning: boolean | null }> = new Map([
  ['t', { word: 'true', meaning: true }],
  ['f', { word: 'false', meaning: false }],
  ['n', { word: 'null', meaning: null }],
]);
/** Far beyond any integer type. */
const mostDigits = 100;

/**
 * Reads a JSON text of a caller. Unlike JSON.parse it keeps every digit of a whole number, refuses repeated keys, and gives the
 * place where a text breaks off, which Node 20 does not always do. Rejects with `invalid_input`; `what` names the text in errors.
 * More than `mostJsonValues` are `too_large`: rows have other routes.
 */
export function parseJson(text: string, what = 'the body'): JsonValue {
  const reader = new JsonReader(text, what);
  const value = reader.value(0);
  reader.end();
  return value;
}

class JsonReader {
  readonly #text: string;
  readonly #what: string;
  #at = 0;
  #values = 0;

  constructor(text: string, what: string) {
    this.#text = text;
    this.#what = what;
    this.#skipSpace();
  }

  value(depth: number): JsonValue {
    if (depth > maxDepth) throw this.#broken(`values are nested more than ${maxDepth} deep`);
    this.#count(1);
    const first = this.#text[this.#at];
    if (first === '"') return this.#string();
    if (first === '{') return this.#object(depth);
    if (first === '[') return this.#array(depth);
    const literal = first === undefined ? undefined : literals.get(first);
    if (literal === undefined || !this.#text.startsWith(literal.word, this.#at)) return this.#number();
    this.#at += literal.word.length;
    return literal.meaning;
  }

  end(): void {
    this.#skipSpace();
    if (this.#at < this.#text.length) throw this.#broken('something stands behind the value');
  }

  #object(depth: number): JsonObject {
    this.#count(1);
    const members = new Map<string, JsonValue>();
    this.#at++;
    if (this.#takes('}')) return members;
    do {
      this.#skipSpace();
      const keyAt = this.#at;
      if (this.#text[keyAt] !== '"') throw this.#broken('a key in double quotes is expected');
      this.#count(1);
      const key = this.#string();
      if (members.has(key)) throw this.#broken(`${JSON.stringify(key.slice(0, 100))} is given twice`, keyAt);
      if (!this.#takes(':')) throw this.#broken('a colon is expected');
      this.#skipSpace();
      members.set(key, this.value(depth + 1));
    } while (this.#takes(','));
    if (!this.#takes('}')) throw this.#broken('a comma or } is expected');
    return members;
  }

  #array(depth: number): JsonValue[] {
    const items: JsonValue[] = [];
    this.#at++;
    if (this.#takes(']')) return items;
    do {
      this.#skipSpace();
      items.push(this.value(depth + 1));
    } while (this.#takes(','));
    if (!this.#takes(']')) throw this.#broken('a comma or ] is expected');
    return items;
  }

  #string(): string {
    const start = this.#at;
    const text = this.#text;
    for (let at = start + 1; at < text.length; at++) {
      const character = text.charCodeAt(at);
      if (character === BACKSLASH) at++;
      else if (character === QUOTE) {
        this.#at = at + 1;
        return this.#unescaped(text.slice(start, this.#at), start);
      }
    }
    throw this.#broken('the string that begins here has no end', start);
  }

  #unescaped(quoted: string, start: number): string {
    try {
      return JSON.parse(quoted) as string;
    } catch (error) {
      const within = Number(/at position (\d+)/.exec((error as Error).message)?.[1] ?? 0);
      throw this.#broken('a string holds a control character or a wrong escape', start + within);
    }
  }

  #number(): number | bigint {
    number.lastIndex = this.#at;
    const found = number.exec(this.#text);
    if (found === null) throw this.#broken('a value is expected');
    this.#at = number.lastIndex;
    const value = Number(found[0]);
    const isWhole = found[1] === undefined && found[2] === undefined;
    if (!isWhole || Number.isSafeInteger(value)) return value;
    if (found[0].length > mostDigits)
      throw this.#broken(`a number has more than ${mostDigits} digits`, this.#at - found[0].length);
    this.#count(1);
    return BigInt(found[0]);
  }

  #count(values: number): void {
    this.#values += values;
    if (this.#values <= mostJsonValues) return;
    throw new AppError('too_large', `${this.#what} has more than ${mostJsonValues} values`, {
      hint: 'put a long list as a frame, and let the statement read it from there',
    });
  }

  #takes(mark: string): boolean {
    this.#skipSpace();
    if (this.#text[this.#at] !== mark) return false;
    this.#at++;
    return true;
  }

  #skipSpace(): void {
    space.lastIndex = this.#at;
    space.test(this.#text);
    this.#at = space.lastIndex;
  }

  #broken(what: string, position = this.#at): AppError {
    const where = position >= this.#text.length ? 'at its end' : `at character ${position}`;
    return new AppError('invalid_input', `${this.#what} is not valid JSON: ${what} ${where}`, { position });
  }
}
