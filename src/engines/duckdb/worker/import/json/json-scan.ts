import { open } from 'node:fs/promises';
import { CLOSE_BRACKET, COMMA, LF, OPEN_BRACE, OPEN_BRACKET } from '@framehold/columns';
import { AppError } from '../../../../../core/errors/app-error.ts';
import { isSpace, JsonFault, jsonValueEnd, MoreNeeded, skipSpace } from '../../../../../encoding/json/json-grammar.ts';
import { refuseOtherEncodings, textFault, utf8ByteOrderMark } from '../text/text-encoding.ts';

/** The longest object that is read. */
const maxObjectBytes = 64 * 1024 * 1024;
const windowBytes = 1024 * 1024;

export interface ScannedObject {
  /** Its first line, from 1. */
  readonly line: number;
  /** The window with it, at [start, end); valid until the next object is read. */
  readonly bytes: Buffer;
  readonly start: number;
  readonly end: number;
  /** Why it cannot be read as a row. */
  readonly fault: string | undefined;
}

/** The objects of a file one by one, whether they follow each other or stand in one array. */
export async function* scannedObjects(
  path: string,
  signal: AbortSignal,
): AsyncGenerator<ScannedObject, void, undefined> {
  await using file = await open(path, 'r');
  const cursor = new ObjectCursor();
  let window = Buffer.allocUnsafeSlow(windowBytes);
  let filled = 0;
  let position = 0;
  for (let isWhole = false; !isWhole; ) {
    signal.throwIfAborted();
    if (filled === window.length) window = grown(window);
    const { bytesRead } = await file.read(window, filled, window.length - filled, position);
    if (position === 0) refuseOtherEncodings(window.subarray(0, bytesRead));
    isWhole = bytesRead === 0;
    position += bytesRead;
    filled += bytesRead;
    const bytes = window.subarray(0, filled);
    cursor.at = position === filled && bytes.subarray(0, 3).equals(utf8ByteOrderMark) ? 3 : 0;
    for (;;) {
      const object = cursor.next(bytes, isWhole);
      if (object === undefined) break;
      yield object;
    }
    window.copyWithin(0, cursor.at, filled);
    filled -= cursor.at;
  }
}

function grown(window: Buffer): Buffer<ArrayBuffer> {
  if (window.length >= maxObjectBytes) {
    throw new AppError('too_large', `an object of the file is longer than ${maxObjectBytes} bytes`, {
      hint: 'send such data as Parquet or Arrow',
    });
  }
  const larger = Buffer.allocUnsafeSlow(window.length * 2);
  larger.set(window);
  return larger;
}

/** State of a reader of objects: before the first, among objects in sequence, in an array, or behind it. */
class ObjectCursor {
  at = 0;
  #line = 1;
  #mode: 'start' | 'sequence' | 'arrayStart' | 'arrayValue' | 'arrayComma' | 'done' = 'start';

  /** The next object in the window; undefined if there is none, or it ends behind the window. */
  next(bytes: Buffer, isWhole: boolean): ScannedObject | undefined {
    for (;;) {
      this.#skipSpace(bytes);
      const first = bytes[this.at];
      if (first === undefined) return isWhole ? this.#atEnd(bytes) : undefined;
      if (!this.#isSyntax(first)) return this.#value(bytes, isWhole);
    }
  }

  /** Skips the syntax of the array itself. */
  #isSyntax(byte: number): boolean {
    if (this.#mode === 'start' && byte === OPEN_BRACKET) this.#mode = 'arrayStart';
    else if ((this.#mode === 'arrayStart' || this.#mode === 'arrayComma') && byte === CLOSE_BRACKET)
      this.#mode = 'done';
    else if (this.#mode === 'arrayComma' && byte === COMMA) this.#mode = 'arrayValue';
    else return false;
    this.at++;
    return true;
  }

  #value(bytes: Buffer, isWhole: boolean): ScannedObject | undefined {
    const start = this.at;
    const line = this.#line;
    try {
      if (this.#mode === 'done') throw new JsonFault('text follows the end of the array');
      if (this.#mode === 'arrayComma') throw new JsonFault('a comma is missing between objects');
      const end = jsonValueEnd(bytes, start);
      // A number may go on behind the window.
      if (end === bytes.length && !isWhole && bytes[start] !== OPEN_BRACE) return undefined;
      const content = bytes.subarray(start, end);
      const fault = bytes[start] === OPEN_BRACE ? textFault(content) : notAnObject(bytes[start]);
      this.#stepTo(bytes, end);
      this.#mode = this.#mode === 'start' || this.#mode === 'sequence' ? 'sequence' : 'arrayComma';
      return { line, bytes, start, end, fault };
    } catch (error) {
      if (error instanceof MoreNeeded && !isWhole) return undefined;
      if (!(error instanceof JsonFault) && !(error instanceof MoreNeeded)) throw error;
      const fault = error instanceof JsonFault ? error.message : 'an object is not closed';
      return this.#skipLine(bytes, isWhole, fault);
    }
  }

  /** Skips the rest of the faulty line; objects may be found again on the next. */
  #skipLine(bytes: Buffer, isWhole: boolean, fault: string): ScannedObject | undefined {
    const start = this.at;
    const line = this.#line;
    let end = bytes.indexOf(LF, start);
    if (end < 0 && !isWhole) return undefined;
    if (end < 0) end = bytes.length;
    this.#stepTo(bytes, end);
    if (this.#mode === 'start') this.#mode = 'sequence';
    if (this.#mode !== 'sequence' && this.#mode !== 'done') {
      const next = skipSpace(bytes, end);
      this.#mode = bytes[next] === CLOSE_BRACKET ? 'arrayStart' : 'arrayValue';
    }
    const wrong = textFault(bytes.subarray(start, end));
    return { line, bytes, start, end, fault: wrong ?? fault };
  }

  #atEnd(bytes: Buffer): ScannedObject | undefined {
    if (this.#mode === 'start' || this.#mode === 'sequence' || this.#mode === 'done') return undefined;
    this.#mode = 'done';
    const fault = 'the array is not closed: the file may be cut off';
    return { line: this.#line, bytes, start: this.at, end: this.at, fault };
  }

  #skipSpace(bytes: Buffer): void {
    while (isSpace(bytes[this.at] ?? 0)) {
      if (bytes[this.at] === LF) this.#line++;
      this.at++;
    }
  }

  #stepTo(bytes: Buffer, end: number): void {
    // Not beyond the end: an array on one line would be searched again for each of its objects.
    const passed = bytes.subarray(this.at, end);
    for (let at = passed.indexOf(LF); at >= 0; at = passed.indexOf(LF, at + 1)) this.#line++;
    this.at = end;
  }
}

function notAnObject(first: number | undefined): string {
  const what: Readonly<Record<number, string>> = {
    34: 'a string',
    91: 'an array',
    110: 'null',
    116: 'true',
    102: 'false',
  };
  return `${what[first ?? 0] ?? 'a number'} stands where an object is expected`;
}
