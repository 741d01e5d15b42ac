import { httpGetBody } from './http-get.ts';
import type { ClientOptions } from './server-process.ts';

/** The answer of `/exec`, ours and QuestDB's. */
export interface ExecTable {
  readonly columns: readonly { readonly name: string; readonly type: string }[];
  readonly dataset: readonly (readonly unknown[])[];
}

export async function getExecTable(url: string, client?: ClientOptions): Promise<ExecTable> {
  const body: unknown = JSON.parse((await httpGetBody(url, client)).toString('utf8'));
  if (typeof body !== 'object' || body === null || !('columns' in body) || !('dataset' in body)) {
    throw new Error(`${url} did not answer with a table`);
  }
  return body as ExecTable;
}

/** The names of the columns and every value of every row. Types have other names in QuestDB (SYMBOL), and numbers another spelling. */
export function assertSameRows(ours: ExecTable, theirs: ExecTable, who: string): void {
  const names = ours.columns.map(({ name }) => name).join();
  const theirNames = theirs.columns.map(({ name }) => name).join();
  if (names !== theirNames) throw new Error(`${who} has the columns ${theirNames}, not ${names}`);
  if (ours.dataset.length !== theirs.dataset.length) {
    throw new Error(`${who} answered ${theirs.dataset.length} rows, not ${ours.dataset.length}`);
  }
  for (const [at, row] of ours.dataset.entries()) {
    const theirRow = theirs.dataset[at];
    if (theirRow?.length === row.length && row.every((value, column) => value === theirRow[column])) continue;
    throw new Error(`${who} answered row ${at + 1} as ${JSON.stringify(theirRow)}, not ${JSON.stringify(row)}`);
  }
}

export function sizeOf({ columns, dataset }: ExecTable): string {
  return `${dataset.length.toLocaleString('en-US')} rows of ${columns.length} columns`;
}
