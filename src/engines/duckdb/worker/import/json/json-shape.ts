import { sqlName } from '@framehold/columns';
import { asciiLower } from '../../../../../core/text/ascii-lower.ts';
import { jsonValueEnd, skipSpace } from '../../../../../encoding/json/json-grammar.ts';
import { KindFinder, type TextKind } from '../text/text-kind.ts';

/** Objects with more keys are not taken for structures: their keys are data. */
const mostFields = 1000;
/** Every BIGINT and DOUBLE keeps this number of digits. */
const shortNumber = 15;
/** The shortest text of a type other than text is a time. */
const shortestTime = 8;

/** The type of the values at one place of all objects. */
export class JsonShape {
  #booleans = false;
  #numbers: KindFinder | undefined;
  #strings: KindFinder | undefined;
  #isPlainText = false;
  #elements: JsonShape | undefined;
  #fields: Map<string, JsonShape> | undefined;
  #isUniform = true;

  /** Takes in the value at [start, end), which is valid JSON. */
  add(bytes: Buffer, start: number, end: number): void {
    switch (bytes[start]) {
      case 110:
        return;
      case 116:
      case 102:
        this.#booleans = true;
        return;
      case 34:
        this.#addString(bytes, start + 1, end - 1);
        return;
      case 91:
        this.#addElements(bytes, start, end);
        return;
      case 123:
        this.#addFields(bytes, start, end);
        return;
      default:
        this.#addNumber(bytes, start, end);
    }
  }

  #addNumber(bytes: Buffer, start: number, end: number): void {
    this.#numbers ??= new KindFinder();
    if (end - start > shortNumber || (bytes[start] === 45 && bytes[start + 1] === 48)) {
      this.#numbers.add(bytes.toString('latin1', start, end));
      return;
    }
    let isInteger = true;
    for (let at = start + 1; at < end; at++) {
      const byte = bytes[at] as number;
      if (byte === 46) isInteger = false;
      else if (byte < 48 || byte > 57) {
        this.#numbers.add(bytes.toString('latin1', start, end));
        return;
      }
    }
    this.#numbers.addShortNumber(isInteger);
  }

  #addString(bytes: Buffer, start: number, end: number): void {
    this.#strings ??= new KindFinder();
    if (this.#isPlainText) return;
    const first = bytes[start] ?? 0;
    const mayBeMore = end - start >= shortestTime && ((first >= 48 && first <= 57) || (first >= 97 && first <= 102));
    if (!mayBeMore) this.#isPlainText = true;
    else this.#strings.add(bytes.toString('utf8', start, end));
  }

  #addElements(bytes: Buffer, start: number, end: number): void {
    this.#elements ??= new JsonShape();
    for (let at = skipSpace(bytes, start + 1); at < end - 1; ) {
      const valueEnd = jsonValueEnd(bytes, at);
      // Inside a list a null beside values counts, but no type is made of nulls alone.
      this.#elements.add(bytes, at, valueEnd);
      at = skipSpace(bytes, skipSpace(bytes, valueEnd) + 1);
    }
  }

  #addFields(bytes: Buffer, start: number, end: number): void {
    const known = this.#fields;
    const fields = known ?? new Map<string, JsonShape>();
    this.#fields = fields;
    let count = 0;
    for (const { key, valueStart, valueEnd } of jsonMembers(bytes, start, end)) {
      count++;
      let shape = fields.get(key);
      if (shape === undefined) {
        if (known !== undefined || fields.size >= mostFields) this.#isUniform = false;
        if (!this.#isUniform) return;
        shape = new JsonShape();
        fields.set(key, shape);
      }
      shape.add(bytes, valueStart, valueEnd);
    }
    if (count !== fields.size) this.#isUniform = false;
  }

  /** Undefined: all values are null. */
  get type(): JsonType | undefined {
    const kinds = [this.#booleans, this.#numbers, this.#strings, this.#elements, this.#fields].filter(Boolean);
    if (kinds.length === 0) return undefined;
    if (kinds.length > 1) return { kind: 'json' };
    if (this.#booleans) return { kind: 'boolean' };
    if (this.#numbers !== undefined) return numberType(this.#numbers.kind);
    if (this.#strings !== undefined)
      return { kind: 'string', looks: this.#isPlainText ? 'text' : timeKind(this.#strings.kind) };
    return this.#nestedType();
  }

  #nestedType(): JsonType {
    const sql = this.#elements !== undefined ? listType(this.#elements) : this.#structType();
    return sql === undefined ? { kind: 'json' } : { kind: 'nested', sql };
  }

  #structType(): string | undefined {
    const fields = [...(this.#fields ?? [])];
    const names = new Set(fields.map(([name]) => asciiLower(name)));
    if (!this.#isUniform || fields.length === 0 || names.size < fields.length || names.has('')) return undefined;
    const members = fields.map(([name, shape]) => {
      const type = shape.inner;
      return type === undefined ? undefined : `${sqlName(name)} ${type}`;
    });
    return members.includes(undefined) ? undefined : `STRUCT(${members.join(', ')})`;
  }

  /** The SQL type inside another value. Undefined: none holds all of it, or it is not known. */
  get inner(): string | undefined {
    const { type } = this;
    switch (type?.kind) {
      case undefined:
      case 'json':
      case 'digits':
        return undefined;
      case 'nested':
        return type.sql;
      case 'string':
        return 'VARCHAR';
      case 'boolean':
        return 'BOOLEAN';
      case 'number':
        return type.looks === 'bigint' ? 'BIGINT' : 'DOUBLE';
      default:
        return type satisfies never;
    }
  }
}

export type JsonType =
  | { readonly kind: 'boolean' }
  | { readonly kind: 'number'; readonly looks: 'bigint' | 'double' }
  /** Numbers of which neither BIGINT nor DOUBLE keeps all digits. */
  | { readonly kind: 'digits' }
  | { readonly kind: 'string'; readonly looks: TextKind | 'text' }
  | { readonly kind: 'nested'; readonly sql: string }
  /** Values of several kinds, or objects of several forms. */
  | { readonly kind: 'json' };

function numberType(looks: TextKind | 'text' | undefined): JsonType {
  return looks === 'bigint' || looks === 'double' ? { kind: 'number', looks } : { kind: 'digits' };
}

/** A string of digits stays a string: JSON has numbers and booleans of its own. */
function timeKind(looks: TextKind | 'text' | undefined): TextKind | 'text' {
  return looks === undefined || looks === 'bigint' || looks === 'double' || looks === 'boolean' ? 'text' : looks;
}

function listType(elements: JsonShape): string | undefined {
  const { inner } = elements;
  return inner === undefined ? undefined : `${inner}[]`;
}

/** Keys and values of the object at [start, end), which is valid. */
function* jsonMembers(
  bytes: Buffer,
  start: number,
  end: number,
): Generator<{ key: string; valueStart: number; valueEnd: number }> {
  for (let at = skipSpace(bytes, start + 1); at < end - 1; ) {
    const keyEnd = jsonValueEnd(bytes, at);
    const valueStart = skipSpace(bytes, skipSpace(bytes, keyEnd) + 1);
    const valueEnd = jsonValueEnd(bytes, valueStart);
    yield { key: jsonKey(bytes, at, keyEnd), valueStart, valueEnd };
    at = skipSpace(bytes, skipSpace(bytes, valueEnd) + 1);
  }
}

/** The key between the quotes at `start` and before `end`. */
export function jsonKey(bytes: Buffer, start: number, end: number): string {
  const raw = bytes.toString('utf8', start + 1, end - 1);
  return raw.includes('\\') ? (JSON.parse(`"${raw}"`) as string) : raw;
}
