/** Numbers below `end`, each in as few bits as the greatest needs, in Parquet's form: how many bits, and a run of them. */
export function packedNumbers(numbers: Uint16Array, end: number): Uint8Array {
  const bits = end <= 1 ? 0 : 32 - Math.clz32(end - 1);
  const groups = (numbers.length + 7) >> 3;
  const head = bits === 0 ? repeatedRun(numbers.length) : packedRun(groups);
  const out = new Uint8Array(1 + head.length + groups * bits);
  out[0] = bits;
  out.set(head, 1);
  let at = 1 + head.length;
  let held = 0;
  let count = 0;
  for (let index = 0; index < numbers.length && bits > 0; index++) {
    held |= (numbers[index] as number) << count;
    for (count += bits; count >= 8; count -= 8) {
      out[at++] = held;
      held >>>= 8;
    }
  }
  if (count > 0) out[at] = held;
  return out;
}

/** Which values of a column are there, 1 for present: Arrow's own bitmap, or one run where all are. */
export function presenceLevels(rows: number, validity: Uint8Array | null): Uint8Array[] {
  const groups = (rows + 7) >> 3;
  const head = validity === null ? [...repeatedRun(rows), 1] : packedRun(groups);
  const runs = validity === null ? [] : [validity.subarray(0, groups)];
  const out = Buffer.alloc(4 + head.length);
  out.writeUInt32LE(head.length + (validity === null ? 0 : groups));
  out.set(head, 4);
  return [out, ...runs];
}

function repeatedRun(count: number): number[] {
  return varint(count * 2);
}

/** Of groups of eight. */
function packedRun(groups: number): number[] {
  return varint(groups * 2 + 1);
}

function varint(value: number): number[] {
  const bytes: number[] = [];
  let rest = value;
  for (; rest > 127; rest >>>= 7) bytes.push((rest & 127) | 128);
  return [...bytes, rest];
}
