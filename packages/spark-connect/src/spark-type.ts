import { untypedNull } from '@framehold/arrow-ipc';
import type { Column, DataType } from '@framehold/columns';
import { bytes, int32, message, nested, optionalBool, optionalInt32, repeated, string } from '@framehold/grpc';

const Plain = message({});
const Decimal = message({ scale: optionalInt32(1), precision: optionalInt32(2) });
/** Types inside a type stay bytes until they are looked at. */
const ArrayType = message({ elementType: bytes(1), containsNull: optionalBool(2) });
const StructField = message({ name: string(1), dataType: bytes(2) });
const StructType = message({ fields: repeated(1, StructField) });
const MapType = message({ keyType: bytes(1), valueType: bytes(2) });
const TextType = message({ length: int32(1) });

/** Spark's own description of a type: one of the fields. */
export const SparkType = message({
  null: nested(1, Plain),
  binary: nested(2, Plain),
  boolean: nested(3, Plain),
  byte: nested(4, Plain),
  short: nested(5, Plain),
  integer: nested(6, Plain),
  long: nested(7, Plain),
  float: nested(8, Plain),
  double: nested(9, Plain),
  decimal: nested(10, Decimal),
  string: nested(11, Plain),
  char: nested(12, TextType),
  varChar: nested(13, TextType),
  date: nested(14, Plain),
  timestamp: nested(15, Plain),
  timestampNtz: nested(16, Plain),
  calendarInterval: nested(17, Plain),
  yearMonthInterval: nested(18, Plain),
  dayTimeInterval: nested(19, Plain),
  array: nested(20, ArrayType),
  struct: nested(21, StructType),
  map: nested(22, MapType),
  variant: nested(25, Plain),
  time: nested(28, Plain),
});
export type SparkTypeValue = ReturnType<typeof SparkType.decode>;

export const emptyType: SparkTypeValue = SparkType.decode(new Uint8Array(0));

const utf8: DataType = { kind: 'utf8' };
const plain: Readonly<Partial<Record<keyof SparkTypeValue, DataType>>> = {
  null: untypedNull,
  binary: { kind: 'binary' },
  boolean: { kind: 'boolean' },
  byte: { kind: 'int', bits: 8, signed: true },
  short: { kind: 'int', bits: 16, signed: true },
  integer: { kind: 'int', bits: 32, signed: true },
  long: { kind: 'int', bits: 64, signed: true },
  float: { kind: 'float', bits: 32 },
  double: { kind: 'float', bits: 64 },
  string: utf8,
  char: utf8,
  varChar: utf8,
  date: { kind: 'date' },
  timestamp: { kind: 'timestamp', unit: 'us', zoned: true },
  timestampNtz: { kind: 'timestamp', unit: 'us', zoned: false },
  calendarInterval: { kind: 'interval' },
  yearMonthInterval: { kind: 'interval' },
  dayTimeInterval: { kind: 'interval' },
  time: { kind: 'time', unit: 'ns' },
};

/** The columns that a struct of Spark's describes, as their Arrow form arrives. */
export function columnsOfStruct(encoded: Uint8Array): Column[] {
  const { struct } = SparkType.decode(encoded);
  return (struct?.fields ?? []).map(({ name, dataType }) => ({ name, type: typeOf(dataType) }));
}

function typeOf(encoded: Uint8Array): DataType {
  const type = SparkType.decode(encoded);
  for (const [name, known] of Object.entries(plain)) if (type[name as keyof SparkTypeValue] !== undefined) return known;
  if (type.decimal !== undefined) {
    return { kind: 'decimal', precision: type.decimal.precision ?? 10, scale: type.decimal.scale ?? 0 };
  }
  if (type.array !== undefined) return { kind: 'list', element: typeOf(type.array.elementType) };
  if (type.struct !== undefined) return { kind: 'struct', fields: columnsOfStruct(encoded) };
  if (type.map !== undefined) return { kind: 'map', key: typeOf(type.map.keyType), value: typeOf(type.map.valueType) };
  if (type.variant !== undefined) {
    const fields = ['value', 'metadata'].map((name): Column => ({ name, type: { kind: 'binary' } }));
    return { kind: 'struct', fields };
  }
  return untypedNull;
}
