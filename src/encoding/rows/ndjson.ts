import { ByteSink, type Column, type DataType, SPACE, viewOf } from '@framehold/columns';
import type { Cell } from '../values/cell.ts';
import { type CellForm, execCell, lineForm } from './exec-cell.ts';
import { createRowTextEncoder, type RowTextEncoder } from './row-text.ts';

const encoder = new TextEncoder();

/**
 * Rows as `{"name":value,…}`, a line each, with the values of exec JSON except for dates and times (`CellForm`). Repeated names
 * are kept.
 */
export function createNdjsonEncoder(columns: readonly Column[], form: CellForm = lineForm): RowTextEncoder {
  const sink = new ByteSink();
  const cells = columns.map(({ type }) => execCell(sink, type, form));
  const keys = columns.map(({ name }, i) => new Key(`${i === 0 ? '{' : ','}${JSON.stringify(name)}:`));
  const mayBreakLines = columns.map(({ type }) => holdsJson(type));
  return createRowTextEncoder(sink, {
    columnCount: cells.length,
    bind({ vectors }) {
      for (const [i, vector] of vectors.entries()) (cells[i] as Cell).bind(vector);
    },
    write(row, at) {
      for (let i = 0; i < cells.length; i++) {
        const start = (keys[i] as Key).write(sink, at);
        at = (cells[i] as Cell).write(row, start);
        if (mayBreakLines[i]) joinLines(sink.bytes, start, at);
      }
      if (cells.length === 0) at = sink.byte(at, 123);
      sink.reserve(at, 2).setUint16(at, 0x7d0a);
      return at + 2;
    },
  });
}

/** The bytes before a value, written four at a time. */
class Key {
  readonly #words: DataView;
  readonly #length: number;

  constructor(text: string) {
    const bytes = encoder.encode(text);
    this.#length = bytes.length;
    const words = new Uint8Array(Math.ceil(bytes.length / 4) * 4);
    words.set(bytes);
    this.#words = viewOf(words);
  }

  write(sink: ByteSink, at: number): number {
    const words = this.#words;
    const count = words.byteLength;
    const out = sink.reserve(at, count);
    for (let i = 0; i < count; i += 4) out.setInt32(at + i, words.getInt32(i));
    return at + this.#length;
  }
}

/** JSON is stored as written, perhaps on several lines. In its strings every line break is escaped already. */
function joinLines(bytes: Uint8Array, from: number, to: number): void {
  for (let i = from; i < to; i++) if (bytes[i] === 10 || bytes[i] === 13) bytes[i] = SPACE;
}

function holdsJson(type: DataType): boolean {
  switch (type.kind) {
    case 'json':
      return true;
    case 'list':
    case 'array':
      return holdsJson(type.element);
    case 'map':
      return holdsJson(type.key) || holdsJson(type.value);
    case 'struct':
      return type.fields.some((field) => holdsJson(field.type));
    case 'union':
      return type.members.some((member) => holdsJson(member.type));
    default:
      return false;
  }
}
