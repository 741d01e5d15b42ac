import {
  int32,
  int64,
  message,
  nested,
  optionalBool,
  optionalBytes,
  optionalDouble,
  optionalFloat,
  optionalInt32,
  optionalInt64,
  optionalString,
  repeated,
  string,
} from '@framehold/grpc';
import { emptyType, SparkType, type SparkTypeValue } from './spark-type.ts';

const Decimal = message({ value: string(1), precision: optionalInt32(2), scale: optionalInt32(3) });
const CalendarInterval = message({ months: int32(1), days: int32(2), microseconds: int64(3) });
/** Its elements are literals themselves, encoded. */
const LiteralArray = message({
  elementType: nested(1, SparkType),
  elements: repeated(2, { decode: (b) => b, encode: (b) => b as Uint8Array }),
});
const Time = message({ nano: int64(1), precision: optionalInt32(2) });

/** One of the fields. */
export const Literal = message({
  null: nested(1, SparkType),
  binary: optionalBytes(2),
  boolean: optionalBool(3),
  byte: optionalInt32(4),
  short: optionalInt32(5),
  integer: optionalInt32(6),
  long: optionalInt64(7),
  float: optionalFloat(10),
  double: optionalDouble(11),
  decimal: nested(12, Decimal),
  string: optionalString(13),
  date: optionalInt32(16),
  timestamp: optionalInt64(17),
  timestampNtz: optionalInt64(18),
  calendarInterval: nested(19, CalendarInterval),
  array: nested(22, LiteralArray),
  time: nested(26, Time),
});
export type LiteralValue = ReturnType<typeof Literal.decode>;

const none = Literal.decode(new Uint8Array(0));

export function literal(value: Partial<LiteralValue>): LiteralValue {
  return { ...none, ...value };
}

export const nullLiteral: LiteralValue = literal({ null: { ...emptyType, null: {} } });

export function arrayOf(elementType: SparkTypeValue, elements: readonly LiteralValue[]): LiteralValue {
  return literal({ array: { elementType, elements: elements.map((element) => Literal.encode(element)) } });
}
