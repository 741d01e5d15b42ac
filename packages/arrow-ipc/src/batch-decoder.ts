import { isDeepStrictEqual } from 'node:util';
import type { Batch, Column, DataType } from '@framehold/columns';
import { readBatch } from './read/columns/batch.ts';
import { readMessageHead } from './read/format/message-head.ts';
import { type ReceivedField, readSchema } from './read/format/schema.ts';
import { toColumn } from './read/vectors/to-column.ts';
import { toVector } from './read/vectors/to-vector.ts';
import { arrowFields } from './types/arrow-columns.ts';
import { splitMessage } from './write/ipc-message.ts';
import { schemaMessage } from './write/schema-message.ts';

/** Reads record batch messages of our own encoder. The vectors are views of the message. */
export type BatchDecoder = (message: Uint8Array) => Batch;

const decoders = new WeakMap<readonly Column[], BatchDecoder | undefined>();
const noDictionaries = new Map();

/** Undefined for columns that Arrow does not bring back as they were. */
export function batchDecoder(columns: readonly Column[]): BatchDecoder | undefined {
  if (!decoders.has(columns)) decoders.set(columns, createDecoder(columns));
  return decoders.get(columns);
}

function createDecoder(columns: readonly Column[]): BatchDecoder | undefined {
  if (!columns.every(({ type }) => survives(type))) return undefined;
  const { header } = splitMessage(schemaMessage(arrowFields(columns)));
  const fields: readonly ReceivedField[] = readSchema(readMessageHead(header).header);
  if (!isDeepStrictEqual(fields.map(toColumn), columns)) return undefined;
  return (message) => {
    const parts = splitMessage(message);
    const head = readMessageHead(parts.header);
    const { rows, columns: read } = readBatch(
      head.header,
      { body: parts.body, isV4: head.isV4 },
      fields,
      noDictionaries,
    );
    return { columns, rows, vectors: read.map((column, index) => toVector(column, (columns[index] as Column).type)) };
  };
}

/** False for types that Parquet stores as another type than Arrow, or not with every value. */
function survives(type: DataType): boolean {
  switch (type.kind) {
    case 'null':
    case 'interval':
    case 'union':
      return false;
    case 'int':
      return type.bits !== 128;
    case 'list':
    case 'array':
      return survives(type.element);
    case 'map':
      return survives(type.key) && survives(type.value);
    case 'struct':
      return type.fields.every((field) => survives(field.type));
    default:
      return true;
  }
}
