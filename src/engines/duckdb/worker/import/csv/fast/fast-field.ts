import type { DataType } from '@framehold/columns';
import type { TextType } from '../../../../../../core/rows/frame-engine.ts';
import type { TextKind } from '../../text/text-kind.ts';
import type { FastField, ValueReader } from './fast-column.ts';
import { readDouble, readInt8, readInt16, readInt32, readInt64 } from './fast-numbers.ts';
import { readBoolean, readNothing, readText } from './fast-texts.ts';
import { readDate, readLocalTimestamp, readZonedTimestamp } from './fast-times.ts';

/** A column of the frame that is read from the file. */
export interface PlannedField {
  readonly name: string;
  /** Which column of the file. */
  readonly index: number;
  readonly type: /** Named by the caller. */
    | { readonly given: TextType }
    /** The kind of the values seen so far. */
    | { readonly seen: TextKind | 'text' | undefined };
}

/** Undefined: its values are left to DuckDB. */
export function fastField({ name, index, type }: PlannedField): FastField | undefined {
  const isNamed = 'given' in type;
  const values = isNamed ? namedValues(type.given) : seenValues(type.seen);
  return values && { column: { name, type: values.type }, index, read: values.read, isNamed };
}

interface Values {
  readonly type: DataType;
  readonly read: ValueReader;
}

const intReaders = { 8: readInt8, 16: readInt16, 32: readInt32, 64: readInt64 } as const;

function namedValues({ type, timeFormat }: TextType): Values | undefined {
  switch (type.kind) {
    case 'utf8':
      return { type, read: readText };
    case 'boolean':
      return { type, read: readBoolean };
    case 'int':
      return type.signed && type.bits !== 128 ? { type, read: intReaders[type.bits] } : undefined;
    case 'float':
      return type.bits === 64 ? { type, read: readDouble } : undefined;
    case 'date':
      return timeFormat === undefined ? { type, read: readDate } : undefined;
    case 'timestamp':
      return timeFormat === undefined && type.unit === 'us' ? { type, read: readZonedTimestamp } : undefined;
    default:
      return undefined;
  }
}

function seenValues(seen: TextKind | 'text' | undefined): Values | undefined {
  switch (seen) {
    case undefined:
      return { type: { kind: 'utf8' }, read: readNothing };
    case 'text':
      return { type: { kind: 'utf8' }, read: readText };
    case 'boolean':
      return { type: { kind: 'boolean' }, read: readBoolean };
    case 'bigint':
      return { type: { kind: 'int', bits: 64, signed: true }, read: readInt64 };
    case 'double':
      return { type: { kind: 'float', bits: 64 }, read: readDouble };
    case 'date':
      return { type: { kind: 'date' }, read: readDate };
    case 'timestamp':
      return { type: { kind: 'timestamp', unit: 'us', zoned: false }, read: readLocalTimestamp };
    case 'timestampTz':
      return { type: { kind: 'timestamp', unit: 'us', zoned: true }, read: readZonedTimestamp };
    default:
      return undefined;
  }
}
