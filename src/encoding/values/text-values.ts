import { type ByteSink, plainBytes, QUOTE, viewOf } from '@framehold/columns';
import { isJson } from '../json/json-grammar.ts';
import { writeJsonString } from '../json/json-string.ts';
import type { ValueWriter } from './cell.ts';
import { textWriter, Utf8Values } from './utf8-values.ts';

const PADDING = 61;
const BASE64 = new TextEncoder().encode('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/');

export function utf8Values(sink: ByteSink): ValueWriter {
  const values = new Utf8Values();
  return {
    bind(vector) {
      values.bind(vector);
    },
    write(row, at) {
      const start = values.offsets[row] as number;
      const end = values.offsets[row + 1] as number;
      if (values.isValid(start, end)) return writeJsonString(sink, at, values.view, start, end);
      const text = values.repaired(start, end);
      return writeJsonString(sink, at, viewOf(text), 0, text.length);
    },
  };
}

/** JSON text as it stands; a JSON string of it where it is no JSON, for it must not break the document around it. */
export function jsonValues(sink: ByteSink): ValueWriter {
  return textWriter((at, data, start, end, bytes) => {
    const write = isJson(bytes, start, end) ? writeVerbatim : writeJsonString;
    return write(sink, at, data, start, end);
  });
}

function writeVerbatim(sink: ByteSink, at: number, data: DataView, start: number, end: number): number {
  const out = sink.reserve(at, end - start);
  let i = start;
  for (; i + 4 <= end; i += 4, at += 4) out.setInt32(at, data.getInt32(i, true), true);
  for (; i < end; i++, at++) out.setUint8(at, data.getUint8(i));
  return at;
}

/** Bytes in base64. */
export function binaryValues(sink: ByteSink): ValueWriter {
  let data = new Uint8Array(0);
  let offsets: Int32Array = new Int32Array(1);
  return {
    bind(vector) {
      data = plainBytes(vector.data);
      offsets = vector.offsets ?? new Int32Array(vector.length + 1);
    },
    write(row, at) {
      const start = offsets[row] as number;
      const end = offsets[row + 1] as number;
      sink.reserve(at, Math.ceil((end - start) / 3) * 4 + 2);
      const { bytes } = sink;
      bytes[at++] = QUOTE;
      for (let i = start; i < end; i += 3) {
        const left = end - i;
        const first = data[i] as number;
        const second = left > 1 ? (data[i + 1] as number) : 0;
        const third = left > 2 ? (data[i + 2] as number) : 0;
        bytes[at] = BASE64[first >> 2] as number;
        bytes[at + 1] = BASE64[((first & 3) << 4) | (second >> 4)] as number;
        bytes[at + 2] = left > 1 ? (BASE64[((second & 15) << 2) | (third >> 6)] as number) : PADDING;
        bytes[at + 3] = left > 2 ? (BASE64[third & 63] as number) : PADDING;
        at += 4;
      }
      bytes[at++] = QUOTE;
      return at;
    },
  };
}
