import { Int64, makeData, makeVector, Table, TimestampNanosecond, tableToIPC, vectorFromArray } from 'apache-arrow';

/** The columns of what is appended: who, its how many-eth append, the row within that, and a time that follows from it. */
export interface AppendedRow {
  readonly w: number;
  readonly n: number;
  readonly i: number;
  readonly timestamp: string;
}

/** One append, by its writer and its number there. Its rows follow from these alone, so that half of one shows. */
export interface AppendKey {
  readonly writer: number;
  readonly n: number;
}

export function rowCountOf({ writer, n }: AppendKey): number {
  return 1 + ((Math.imul(writer + 1, 40503) ^ Math.imul(n + 1, 2654435761)) >>> 30);
}

export function rowsOf(key: AppendKey): AppendedRow[] {
  const timestamp = new Date(key.n * 1000).toISOString();
  return Array.from({ length: rowCountOf(key) }, (_, i) => ({ w: key.writer, n: key.n, i, timestamp }));
}

export function isRowOf(key: AppendKey, i: number, row: AppendedRow | undefined): boolean {
  const second = new Date(key.n * 1000).toISOString().slice(0, 19);
  return row?.w === key.writer && row.n === key.n && row.i === i && row.timestamp.startsWith(second);
}

export function csvOf(key: AppendKey): string {
  const lines = rowsOf(key).map(({ w, n, i, timestamp }) => `${w},${n},${i},${timestamp}\n`);
  return `w,n,i,timestamp\n${lines.join('')}`;
}

export function linesOf(handle: string, key: AppendKey): string {
  return rowsOf(key)
    .map(({ w, n, i }) => `${handle} w=${w}i,n=${n}i,i=${i}i ${BigInt(n) * 1_000_000_000n}\n`)
    .join('');
}

export function insertOf(handle: string, key: AppendKey): string {
  const values = rowsOf(key).map(({ w, n, i }) => `(${w}, ${n}, ${i}, make_timestamp_ns(${n}000000000))`);
  return `insert into ${handle} values ${values.join(', ')}`;
}

export function arrowOf(key: AppendKey): Uint8Array {
  const rows = rowsOf(key);
  const long = (values: readonly number[]) => vectorFromArray(values.map(BigInt), new Int64());
  const times = BigInt64Array.from(rows, ({ n }) => BigInt(n) * 1_000_000_000n);
  const table = new Table({
    w: long(rows.map(({ w }) => w)),
    n: long(rows.map(({ n }) => n)),
    i: long(rows.map(({ i }) => i)),
    timestamp: makeVector(makeData({ type: new TimestampNanosecond(), length: rows.length, data: times })),
  });
  return tableToIPC(table, 'stream');
}
