import type { DataType, Vector } from '@framehold/columns';

/**
 * A vector of plain values, for tests: numbers for integers up to 32 bits, floats and dates; bigints for wider
 * integers, decimals (unscaled), times and timestamps; strings or bytes for text; [months, days, nanoseconds bigint]
 * for intervals; arrays for lists and structs; [key, value] pairs for maps; [member, value] for unions; null for NULL.
 */
export function vectorOf(type: DataType, values: readonly unknown[]): Vector {
  const none = { type, length: values.length, validity: validityOf(values), offsets: null, data: null, children: [] };
  switch (type.kind) {
    case 'null':
      return none;
    case 'boolean':
      return { ...none, data: bitsOf(values.map((value) => value === true)) };
    case 'int':
      if (type.bits === 128) return { ...none, data: wideOf(values) };
      if (type.bits === 64) return { ...none, data: longsOf(values) };
      return { ...none, data: numbersOf(values, type.bits / 8, intSetters[type.bits]) };
    case 'float':
      return { ...none, data: numbersOf(values, type.bits / 8, type.bits === 32 ? 'setFloat32' : 'setFloat64') };
    case 'decimal':
      return { ...none, data: wideOf(values) };
    case 'utf8':
    case 'json':
    case 'uuid':
    case 'binary': {
      const parts = values.map((value) => (value instanceof Uint8Array ? value : Buffer.from((value ?? '') as string)));
      return { ...none, offsets: offsetsOf(parts), data: new Uint8Array(Buffer.concat(parts)) };
    }
    case 'date':
      return { ...none, data: numbersOf(values, 4, 'setInt32') };
    case 'time':
    case 'timestamp':
      return { ...none, data: longsOf(values) };
    case 'interval': {
      const parts = values.map((value) => (value ?? [0, 0, 0n]) as [number, number, bigint]);
      const data = new DataView(new ArrayBuffer(values.length * 16));
      for (const [i, [months, days, nanoseconds]] of parts.entries()) {
        data.setInt32(i * 16, months, true);
        data.setInt32(i * 16 + 4, days, true);
        data.setBigInt64(i * 16 + 8, nanoseconds, true);
      }
      return { ...none, data: new Uint8Array(data.buffer) };
    }
    case 'list': {
      const rows = values.map((value) => (value ?? []) as unknown[]);
      return { ...none, offsets: offsetsOf(rows), children: [vectorOf(type.element, rows.flat(1))] };
    }
    case 'array': {
      const rows = values.map((value) => (value ?? new Array(type.size).fill(null)) as unknown[]);
      return { ...none, children: [vectorOf(type.element, rows.flat(1))] };
    }
    case 'struct': {
      const field = (index: number) => values.map((value) => (value as unknown[] | null)?.[index] ?? null);
      return { ...none, children: type.fields.map((column, i) => vectorOf(column.type, field(i))) };
    }
    case 'map': {
      const rows = values.map((value) => (value ?? []) as [unknown, unknown][]);
      const fields = [
        { name: 'key', type: type.key },
        { name: 'value', type: type.value },
      ];
      return { ...none, offsets: offsetsOf(rows), children: [vectorOf({ kind: 'struct', fields }, rows.flat(1))] };
    }
    case 'union': {
      const rows = values.map((value) => (value ?? [0, null]) as [number, unknown]);
      const member = (index: number) => rows.map(([tag, value]) => (tag === index ? value : null));
      const data = Uint8Array.from(rows, ([tag]) => tag);
      return { ...none, data, children: type.members.map((column, i) => vectorOf(column.type, member(i))) };
    }
    default:
      return type satisfies never;
  }
}

const intSetters = { 8: 'setInt8', 16: 'setInt16', 32: 'setInt32' } as const;

function validityOf(values: readonly unknown[]): Uint8Array | null {
  return values.includes(null) ? bitsOf(values.map((value) => value !== null)) : null;
}

function bitsOf(values: readonly boolean[]): Uint8Array {
  const bits = new Uint8Array(Math.ceil(values.length / 8));
  for (const [i, value] of values.entries()) if (value) bits[i >> 3] = (bits[i >> 3] as number) | (1 << (i & 7));
  return bits;
}

function numbersOf(
  values: readonly unknown[],
  width: number,
  setter: 'setInt8' | 'setInt16' | 'setInt32' | 'setFloat32' | 'setFloat64',
): Uint8Array {
  const data = new DataView(new ArrayBuffer(values.length * width));
  for (const [i, value] of values.entries()) data[setter](i * width, (value ?? 0) as number, true);
  return new Uint8Array(data.buffer);
}

function longsOf(values: readonly unknown[]): Uint8Array {
  return new Uint8Array(BigInt64Array.from(values, (value) => (value ?? 0n) as bigint).buffer);
}

function wideOf(values: readonly unknown[]): Uint8Array {
  const words = values.flatMap((value) => [(value ?? 0n) as bigint, ((value ?? 0n) as bigint) >> 64n]);
  return new Uint8Array(BigInt64Array.from(words).buffer);
}

function offsetsOf(parts: readonly { readonly length: number }[]): Int32Array {
  const offsets = new Int32Array(parts.length + 1);
  for (const [i, part] of parts.entries()) offsets[i + 1] = (offsets[i] as number) + part.length;
  return offsets;
}
