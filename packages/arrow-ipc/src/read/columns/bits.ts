/** Bitmaps as Arrow and DuckDB have them: bit 0 of byte 0 is row 0, and 1 means present. */
export function bitAt(bits: Uint8Array, index: number): boolean {
  return (((bits[index >> 3] as number) >> (index & 7)) & 1) === 1;
}

/** Whether a row has a value; without a bitmap every row has one. */
export function isPresent(validity: Uint8Array | null, row: number): boolean {
  return validity === null || bitAt(validity, row);
}

/** A copy of `count` bits from `start` on, at bit 0. */
export function sliceBits(bits: Uint8Array, start: number, count: number): Uint8Array {
  const bytes = (count + 7) >> 3;
  const first = start >> 3;
  const shift = start & 7;
  // Not `slice`: for a Buffer that would be a view.
  if (shift === 0) return Uint8Array.from(bits.subarray(first, first + bytes));
  const out = new Uint8Array(bytes);
  for (let at = 0; at < bytes; at++) {
    out[at] = ((bits[first + at] as number) >> shift) | ((bits[first + at + 1] ?? 0) << (8 - shift));
  }
  return out;
}

/** The rows that are present in both. */
export function bothPresent(one: Uint8Array | null, other: Uint8Array | null): Uint8Array | null {
  if (one === null || other === null) return one ?? other;
  return one.map((byte, at) => byte & (other[at] as number));
}

export function clearBit(bits: Uint8Array, index: number): void {
  bits[index >> 3] = (bits[index >> 3] as number) & ~(1 << (index & 7));
}

/** Every bit `times` times. */
export function repeatBits(bits: Uint8Array, count: number, times: number): Uint8Array {
  const out = allBits(count * times);
  for (let index = 0; index < count; index++) {
    if (bitAt(bits, index)) continue;
    for (let n = 0; n < times; n++) clearBit(out, index * times + n);
  }
  return out;
}

export function allBits(count: number): Uint8Array {
  return new Uint8Array((count + 7) >> 3).fill(255);
}
