import { type ByteSink, COLON, COMMA, plainBytes, type Vector } from '@framehold/columns';
import type { Cell, ValueWriter } from './cell.ts';

const encoder = new TextEncoder();

export function listValues(sink: ByteSink, element: Cell): ValueWriter {
  let offsets: Int32Array = new Int32Array(1);
  return {
    bind(vector) {
      offsets = vector.offsets ?? new Int32Array(vector.length + 1);
      element.bind(child(vector, 0));
    },
    write(row, at) {
      return writeArray(sink, at, element, offsets[row] as number, offsets[row + 1] as number);
    },
  };
}

export function arrayValues(sink: ByteSink, element: Cell, size: number): ValueWriter {
  return {
    bind(vector) {
      element.bind(child(vector, 0));
    },
    write(row, at) {
      return writeArray(sink, at, element, row * size, row * size + size);
    },
  };
}

/** An object, with repeated names; for fields without names, as in SQL's `row(1, 2)`, an array. */
export function structValues(sink: ByteSink, names: readonly string[], fields: readonly Cell[]): ValueWriter {
  const isNamed = names.length === 0 || names.some((name) => name !== '');
  const [open, close] = isNamed ? [123, 125] : [91, 93];
  const keys = names.map((name, i) =>
    encoder.encode(`${i === 0 ? '' : ','}${isNamed ? `${JSON.stringify(name)}:` : ''}`),
  );
  return {
    bind(vector) {
      for (const [i, field] of fields.entries()) field.bind(child(vector, i));
    },
    write(row, at) {
      at = sink.byte(at, open);
      for (let i = 0; i < fields.length; i++) {
        at = sink.copy(at, keys[i] as Uint8Array);
        at = (fields[i] as Cell).write(row, at);
      }
      return sink.byte(at, close);
    },
  };
}

const NULL_KEY = encoder.encode('"null"');

/** A map whose keys are JSON strings: an object. */
export function mapObjectValues(sink: ByteSink, key: Cell, value: Cell): ValueWriter {
  return mapValues(sink, key, value, [123, 125], (entry, at) => {
    // No map may have such a key, but a file may.
    const end = key.isNull(entry) ? sink.copy(at, NULL_KEY) : key.write(entry, at);
    return value.write(entry, sink.byte(end, COLON));
  });
}

const ENTRY_KEY = encoder.encode('{"key":');
const ENTRY_VALUE = encoder.encode(',"value":');

/** Any other map: an array of its entries. */
export function mapEntriesValues(sink: ByteSink, key: Cell, value: Cell): ValueWriter {
  return mapValues(sink, key, value, [91, 93], (entry, at) => {
    const end = key.write(entry, sink.copy(at, ENTRY_KEY));
    return sink.byte(value.write(entry, sink.copy(end, ENTRY_VALUE)), 125);
  });
}

function mapValues(
  sink: ByteSink,
  key: Cell,
  value: Cell,
  [open, close]: readonly [number, number],
  writeEntry: (entry: number, at: number) => number,
): ValueWriter {
  let offsets: Int32Array = new Int32Array(1);
  return {
    bind(vector) {
      offsets = vector.offsets ?? new Int32Array(vector.length + 1);
      bindEntries(vector, key, value);
    },
    write(row, at) {
      const start = offsets[row] as number;
      const end = offsets[row + 1] as number;
      at = sink.byte(at, open);
      for (let entry = start; entry < end; entry++) {
        if (entry > start) at = sink.byte(at, COMMA);
        at = writeEntry(entry, at);
      }
      return sink.byte(at, close);
    },
  };
}

export function unionValues(sink: ByteSink, members: readonly Cell[]): ValueWriter {
  let tags = new Uint8Array(0);
  return {
    bind(vector) {
      tags = plainBytes(vector.data);
      for (const [i, member] of members.entries()) member.bind(child(vector, i));
    },
    write(row, at) {
      const member = members[tags[row] as number];
      return member === undefined ? sink.null(at) : member.write(row, at);
    },
  };
}

function writeArray(sink: ByteSink, at: number, element: Cell, start: number, end: number): number {
  at = sink.byte(at, 91);
  for (let i = start; i < end; i++) {
    if (i > start) at = sink.byte(at, COMMA);
    at = element.write(i, at);
  }
  return sink.byte(at, 93);
}

function bindEntries(vector: Vector, key: Cell, value: Cell): void {
  const entries = child(vector, 0);
  key.bind(child(entries, 0));
  value.bind(child(entries, 1));
}

function child(vector: Vector, index: number): Vector {
  const found = vector.children[index];
  if (found === undefined) throw new TypeError(`a ${vector.type.kind} vector without child ${index}`);
  return found;
}
