/** Sums over a table by a client of bench/clients: independent of the order of its rows. */
export interface Checksums {
  readonly rows: number;
  /** The sum of the hashes of all values, by the name of the column. */
  readonly columns: Readonly<Record<string, string>>;
}

export function assertSameTable(expected: Checksums, found: Checksums, who: string): void {
  if (found.rows !== expected.rows) throw new Error(`${who} has ${found.rows} rows, not ${expected.rows}`);
  const names = Object.keys(expected.columns).join();
  const theirNames = Object.keys(found.columns).join();
  if (theirNames !== names) throw new Error(`${who} has the columns ${theirNames}, not ${names}`);
  for (const [name, sum] of Object.entries(expected.columns)) {
    if (found.columns[name] !== sum) throw new Error(`${who} has other values in the column ${name}`);
  }
}

export function tableSize({ rows, columns }: Checksums): string {
  return `${rows.toLocaleString('en-US')} rows of ${Object.keys(columns).length} columns`;
}
