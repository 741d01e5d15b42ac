import { CodedError } from '@framehold/columns';
import { type Field, FieldBudget, FieldWriter, readFields, utf8Field } from './protobuf.ts';

/** Reader and writer of one kind of field. */
interface FieldKind<T> {
  readonly number: number;
  /** The value of an absent field. */
  readonly initial: () => T;
  /** `before` is the value of an earlier occurrence: repeated fields add to it, others replace it. */
  read(value: Field['value'], before: T, budget: FieldBudget): T;
  /** Nothing for a value that need not be written. */
  write(value: T, out: FieldWriter): void;
}

type Fields = Readonly<Record<string, FieldKind<never>>>;
type Values<F> = { readonly [K in keyof F]: F[K] extends FieldKind<infer T> ? T : never };

/** A protobuf message by its fields: `const Ticket = message({ ticket: bytes(1) })`. */
export interface MessageType<T> {
  /** `budget`: the rest of the outer message's budget. */
  decode(bytes: Uint8Array, budget?: FieldBudget): T;
  encode(value: Partial<T>): Uint8Array;
}

export function message<const F extends Record<string, unknown>>(fields: F): MessageType<Values<F>> {
  const kinds = Object.entries(fields as unknown as Fields) as [string, FieldKind<unknown>][];
  const byNumber = new Map(kinds.map(([name, kind]) => [kind.number, { name, kind }]));
  return {
    decode(bytes, budget = new FieldBudget()) {
      const values: Record<string, unknown> = {};
      for (const [name, kind] of kinds) values[name] = kind.initial();
      readFields(
        bytes,
        (number, value) => {
          const known = byNumber.get(number);
          if (known !== undefined) values[known.name] = known.kind.read(value, values[known.name], budget);
        },
        budget,
      );
      return values as Values<F>;
    },
    encode(value) {
      const given = value as Record<string, unknown>;
      const out = new FieldWriter();
      for (const [name, kind] of kinds) if (given[name] !== undefined) kind.write(given[name], out);
      return out.take();
    },
  };
}

export function string(number: number): FieldKind<string> {
  return {
    number,
    initial: () => '',
    read: (value) => utf8Field(value),
    write: (text, out) => {
      if (text !== '') out.bytes(number, text);
    },
  };
}

/** A string that may be absent, which is not the same as empty. */
export function optionalString(number: number): FieldKind<string | undefined> {
  return {
    number,
    initial: () => undefined,
    read: (value) => utf8Field(value),
    write: (text, out) => {
      if (text !== undefined) out.bytes(number, text);
    },
  };
}

const noBytes = new Uint8Array(0);

export function bytes(number: number): FieldKind<Uint8Array> {
  return {
    number,
    initial: () => noBytes,
    read: bytesOf,
    write: (value, out) => {
      if (value.length > 0) out.bytes(number, value);
    },
  };
}

export function optionalBytes(number: number): FieldKind<Uint8Array | undefined> {
  return {
    number,
    initial: () => undefined,
    read: bytesOf,
    write: (value, out) => {
      if (value !== undefined) out.bytes(number, value);
    },
  };
}

export function bool(number: number): FieldKind<boolean> {
  return {
    number,
    initial: () => false,
    read: (value) => numberOf(value) !== 0n,
    write: (value, out) => {
      if (value) out.varint(number, 1);
    },
  };
}

export function optionalBool(number: number): FieldKind<boolean | undefined> {
  return {
    number,
    initial: () => undefined,
    read: (value) => numberOf(value) !== 0n,
    write: (value, out) => {
      if (value !== undefined) out.varint(number, value ? 1 : 0);
    },
  };
}

/** int32, uint32 or an enum. */
export function int32(number: number): FieldKind<number> {
  return {
    number,
    initial: () => 0,
    read: (value) => Number(BigInt.asIntN(32, numberOf(value))),
    write: (value, out) => {
      if (value !== 0) out.varint(number, value);
    },
  };
}

export function int64(number: number): FieldKind<bigint> {
  return {
    number,
    initial: () => 0n,
    read: (value) => BigInt.asIntN(64, numberOf(value)),
    write: (value, out) => {
      if (value !== 0n) out.varint(number, value);
    },
  };
}

/** An int32 that may be absent, which is not the same as 0. */
export function optionalInt32(number: number): FieldKind<number | undefined> {
  return {
    number,
    initial: () => undefined,
    read: (value) => Number(BigInt.asIntN(32, numberOf(value))),
    write: (value, out) => {
      if (value !== undefined) out.varint(number, value);
    },
  };
}

export function optionalInt64(number: number): FieldKind<bigint | undefined> {
  return {
    number,
    initial: () => undefined,
    read: (value) => BigInt.asIntN(64, numberOf(value)),
    write: (value, out) => {
      if (value !== undefined) out.varint(number, value);
    },
  };
}

export function optionalSfixed64(number: number): FieldKind<bigint | undefined> {
  return {
    number,
    initial: () => undefined,
    read: (value) => fixed64Of(value).getBigInt64(0, true),
    write: (value, out) => {
      if (value !== undefined)
        out.fixed(
          number,
          fixed64((view) => view.setBigInt64(0, value, true)),
        );
    },
  };
}

export function optionalDouble(number: number): FieldKind<number | undefined> {
  return {
    number,
    initial: () => undefined,
    read: (value) => fixed64Of(value).getFloat64(0, true),
    write: (value, out) => {
      if (value !== undefined)
        out.fixed(
          number,
          fixed64((view) => view.setFloat64(0, value, true)),
        );
    },
  };
}

export function optionalFloat(number: number): FieldKind<number | undefined> {
  return {
    number,
    initial: () => undefined,
    read: (value) => fixedOf(value, 4).getFloat32(0, true),
    write: (value, out) => {
      if (value !== undefined) out.fixed(number, new Uint8Array(Float32Array.of(value).buffer));
    },
  };
}

export function strings(number: number): FieldKind<readonly string[]> {
  return {
    number,
    initial: () => [],
    read: (value, before, budget) => {
      // A text costs twice as much as any other field.
      budget.take(1);
      return added(before, utf8Field(value));
    },
    write: (values, out) => {
      for (const value of values) out.bytes(number, value);
    },
  };
}

/** Repeated uint32 or enum, packed or not. */
export function uint32s(number: number): FieldKind<readonly number[]> {
  return {
    number,
    initial: () => [],
    read: (value, before, budget) => {
      for (const item of typeof value === 'bigint' ? [Number(value)] : unpack(value)) {
        budget.take(1);
        added(before, item);
      }
      return before;
    },
    write: (values, out) => {
      for (const value of values) out.varint(number, value);
    },
  };
}

export function nested<T>(number: number, type: MessageType<T>): FieldKind<T | undefined> {
  return {
    number,
    initial: () => undefined,
    read: (value, _, budget) => type.decode(bytesOf(value), budget),
    write: (value, out) => {
      if (value !== undefined) out.bytes(number, type.encode(value));
    },
  };
}

export function repeated<T>(number: number, type: MessageType<T>): FieldKind<readonly T[]> {
  return {
    number,
    initial: () => [],
    read: (value, before, budget) => added(before, type.decode(bytesOf(value), budget)),
    write: (values, out) => {
      for (const value of values) out.bytes(number, type.encode(value));
    },
  };
}

/** The values of a `map<string, string>`. */
export const textValue: MessageType<string> = {
  decode: (value) => utf8Field(value),
  encode: (value) => Buffer.from(value),
};

/** `map<string, …>`; a repeated key has its last value. */
export function map<T>(number: number, type: MessageType<T>): FieldKind<ReadonlyMap<string, T>> {
  const entry = message({ key: string(1), value: bytes(2) });
  return {
    number,
    initial: () => new Map(),
    read: (value, before, budget) => {
      const { key, value: encoded } = entry.decode(bytesOf(value), budget);
      return (before as Map<string, T>).set(key, type.decode(encoded, budget));
    },
    write: (values, out) => {
      for (const [key, value] of values) out.bytes(number, entry.encode({ key, value: type.encode(value) }));
    },
  };
}

/** In place: otherwise a message of a million items would be copied a million times. The list is `initial`'s own. */
function added<T>(list: readonly T[], item: T): readonly T[] {
  (list as T[]).push(item);
  return list;
}

function bytesOf(value: Field['value']): Uint8Array {
  if (typeof value !== 'bigint') return value;
  throw new CodedError('invalid_input', 'a number stands where bytes are expected');
}

function numberOf(value: Field['value']): bigint {
  if (typeof value === 'bigint') return value;
  throw new CodedError('invalid_input', 'bytes stand where a number is expected');
}

function fixed64Of(value: Field['value']): DataView {
  return fixedOf(value, 8);
}

function fixedOf(value: Field['value'], length: number): DataView {
  const fixed = bytesOf(value);
  if (fixed.length !== length) throw new CodedError('invalid_input', `a field of ${length} bytes has another length`);
  return new DataView(fixed.buffer, fixed.byteOffset, length);
}

function fixed64(write: (view: DataView) => void): Uint8Array {
  const view = new DataView(new ArrayBuffer(8));
  write(view);
  return new Uint8Array(view.buffer);
}

function* unpack(packed: Uint8Array): Generator<number> {
  let value = 0;
  let scale = 1;
  for (const byte of packed) {
    value += (byte & 0x7f) * scale;
    scale *= 128;
    if (byte >= 0x80) continue;
    yield value;
    value = 0;
    scale = 1;
  }
  if (scale !== 1) throw new CodedError('invalid_input', 'a packed field ends inside a number');
}
