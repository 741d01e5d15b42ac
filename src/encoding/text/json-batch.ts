import {
  BACKSLASH,
  type Batch,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COLON,
  COMMA,
  type Column,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
} from '@framehold/columns';
import { skipSpace } from '../json/json-grammar.ts';
import { plainValueEnd } from './plain-json.ts';
import { batchOf, columnNames, isPlainText, isSame, textStepBytes, valueColumns } from './text-batch.ts';
import type { ValueColumn } from './value-column.ts';

const NULL_LETTER = 110;
const malformed = -1;
/** Rows may leave out columns, which take their time and memory all the same. */
const mostValuesPerByte = 4;

/**
 * The rows of a small JSON file for a frame: objects, one behind the other or in an array, as the engine's import would store
 * them, in steps of less than a millisecond; undefined wherever that is not certain.
 */
export function* jsonBatch(bytes: Uint8Array, columns: readonly Column[]): Generator<void, Batch | undefined> {
  const values = isPlainText(bytes) ? valueColumns(columns) : undefined;
  if (values === undefined || new Set(columns.map(({ name }) => name)).size < columns.length) return undefined;
  const rows = new JsonRows(bytes, columns, values);
  return (yield* rows.read()) ? batchOf(columns, values) : undefined;
}

interface Member {
  readonly key: Uint8Array;
  readonly value: ValueColumn;
  readonly isJson: boolean;
  /** Whether any row had it: the import reports the missing columns of a file. */
  isSeen: boolean;
}

class JsonRows {
  readonly #bytes: Uint8Array;
  readonly #members: Member[];
  #known: ReadonlyMap<string, Member> | undefined;
  #count = 0;

  constructor(bytes: Uint8Array, columns: readonly Column[], values: readonly ValueColumn[]) {
    this.#bytes = bytes;
    const names = columnNames(columns);
    this.#members = columns.map(({ type }, index) => ({
      key: names[index] as Uint8Array,
      value: values[index] as ValueColumn,
      isJson: type.kind === 'json',
      isSeen: false,
    }));
  }

  *read(): Generator<void, boolean> {
    const bytes = this.#bytes;
    const { length } = bytes;
    const mostRows = (mostValuesPerByte * length) / this.#members.length;
    let stepEnd = textStepBytes;
    let at = skipSpace(bytes, 0);
    const isArray = bytes[at] === OPEN_BRACKET;
    if (isArray) at = skipSpace(bytes, at + 1);
    while (at < length) {
      if (at >= stepEnd) {
        yield;
        stepEnd = at + textStepBytes;
      }
      if (bytes[at] !== OPEN_BRACE || this.#count >= mostRows) return false;
      at = this.#object(at + 1);
      if (at === malformed) return false;
      at = skipSpace(bytes, at);
      if (!isArray) continue;
      if (bytes[at] === CLOSE_BRACKET) return skipSpace(bytes, at + 1) === length && this.#isWhole();
      if (bytes[at] !== COMMA) return false;
      at = skipSpace(bytes, at + 1);
    }
    return !isArray && this.#isWhole();
  }

  #isWhole(): boolean {
    return this.#count > 0 && this.#members.every(({ isSeen }) => isSeen);
  }

  /** Needed where keys stand in another order than the columns. */
  get #byKey(): ReadonlyMap<string, Member> {
    this.#known ??= new Map(this.#members.map((member) => [latin1(member.key), member]));
    return this.#known;
  }

  /** Where the object ends. */
  #object(from: number): number {
    const bytes = this.#bytes;
    let at = skipSpace(bytes, from);
    let place = 0;
    while (bytes[at] === QUOTE) {
      const keyEnd = indexOf(bytes, QUOTE, at + 1, bytes.length);
      const member = this.#member(place++, at + 1, keyEnd);
      if (member === undefined) return malformed;
      at = skipSpace(bytes, keyEnd + 1);
      if (bytes[at] !== COLON) return malformed;
      at = this.#value(member, skipSpace(bytes, at + 1));
      if (at === malformed) return malformed;
      at = skipSpace(bytes, at);
      if (bytes[at] === CLOSE_BRACE) break;
      if (bytes[at] !== COMMA) return malformed;
      at = skipSpace(bytes, at + 1);
      if (bytes[at] !== QUOTE) return malformed;
    }
    if (bytes[at] !== CLOSE_BRACE) return malformed;
    this.#count++;
    for (const { value } of this.#members) if (value.rows < this.#count) value.addNull();
    return at + 1;
  }

  /** The member of that key, of which this row has no value yet. Keys mostly stand in the order of the columns. */
  #member(place: number, from: number, end: number): Member | undefined {
    const bytes = this.#bytes;
    const likely = this.#members[place];
    const found =
      likely !== undefined && isSame(likely.key, bytes, from, end)
        ? likely
        : this.#byKey.get(latin1(bytes.subarray(from, end)));
    // A backslash in front of the quote makes no name of a column: it would have to be escaped itself.
    if (found === undefined || found.value.rows > this.#count || found.key.includes(BACKSLASH)) return undefined;
    found.isSeen = true;
    return found;
  }

  /** Where the value ends. */
  #value({ value, isJson }: Member, from: number): number {
    const bytes = this.#bytes;
    const end = plainValueEnd(bytes, from, bytes.length);
    if (end < 0) return malformed;
    const first = bytes[from];
    if (first === NULL_LETTER) {
      value.addNull();
      return end;
    }
    if (isJson) return value.add(bytes, from, end) ? end : malformed;
    if (first === OPEN_BRACE || first === OPEN_BRACKET) return malformed;
    if (first !== QUOTE) return value.add(bytes, from, end) ? end : malformed;
    if (indexOf(bytes, BACKSLASH, from, end) === end) return value.add(bytes, from + 1, end - 1) ? end : malformed;
    const text = unescaped(bytes, from + 1, end - 1);
    return text !== undefined && value.add(text, 0, text.length) ? end : malformed;
  }
}

/** `end` where it is not among the bytes [from, end). */
function indexOf(bytes: Uint8Array, byte: number, from: number, end: number): number {
  let at = from;
  while (at < end && bytes[at] !== byte) at++;
  return at;
}

function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1');
}

const escapes: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };

/** The text of a valid string. Undefined where it has escapes of code units, which may be half a character. */
function unescaped(bytes: Uint8Array, from: number, end: number): Uint8Array | undefined {
  const text = new Uint8Array(end - from);
  let to = 0;
  for (let at = from; at < end; at++) {
    const byte = bytes[at] as number;
    if (byte !== BACKSLASH) {
      text[to++] = byte;
      continue;
    }
    const letter = String.fromCharCode(bytes[++at] as number);
    if (letter === 'u') return undefined;
    text[to++] = (escapes[letter] ?? letter).charCodeAt(0);
  }
  return text.subarray(0, to);
}
