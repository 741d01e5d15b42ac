/**
 * What the harness writes. Every write has a number, and its rows follow from it alone: how many they are and what each
 * holds. So a frame is known by the numbers of the writes that it is made of, and half a write or a wrong value shows.
 */
export type WriteNumber = number;

export interface WrittenRow {
  readonly n: number;
  readonly i: number;
  readonly text: string;
}

export function rowsOf(n: WriteNumber): number {
  return n % 17 === 0 ? 1000 : 1 + (Math.imul(n, 2654435761) >>> 26);
}

export function textOf(n: WriteNumber, i: number): string {
  return `w${n}-${i}-${(Math.imul(n + 1, 40503) ^ Math.imul(i + 1, 2246822519)) >>> 0}`;
}

export function rowsWritten(n: WriteNumber): WrittenRow[] {
  return Array.from({ length: rowsOf(n) }, (_, i) => ({ n, i, text: textOf(n, i) }));
}

/** The writes that rows are made of, in their order. Throws where they are not whole, or not what was written. */
export function writesIn(rows: readonly (readonly unknown[])[]): WriteNumber[] {
  const writes: WriteNumber[] = [];
  for (let at = 0; at < rows.length; ) {
    const n = Number(rows[at]?.[0]);
    const count = rowsOf(n);
    for (let i = 0; i < count; i++) {
      const [foundN, foundI, text] = rows[at + i] ?? [];
      if (foundN === n && foundI === i && text === textOf(n, i)) continue;
      throw new Error(`row ${at + i} should be row ${i} of write ${n}, but is ${JSON.stringify(rows[at + i])}`);
    }
    writes.push(n);
    at += count;
  }
  return writes;
}
