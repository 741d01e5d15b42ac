import type { Batch, Column } from '@framehold/columns';
import type { Query } from '../../../../core/sql/sql.ts';
import type { ResultRows } from '../encode/encode-results.ts';
import { profileText } from './query-profile.ts';

type Explain = NonNullable<Query['explain']>;

/**
 * The answer of EXPLAIN, two columns of text, without the names that a statement has for its tables here. Behind the plan stands a row for
 * each table or query of the external database.
 */
export async function explainRows(
  result: ResultRows,
  explain: Explain,
  shownNames: ShownNames,
  notes: readonly string[] = [],
): Promise<ResultRows> {
  const rows: [string, string][] = [];
  for await (const { rows: count, vectors } of result.batches()) {
    for (let row = 0; row < count; row++) {
      const [key = '', text = ''] = vectors.map((vector) => textAt(vector, row));
      const shown = explain.isAnalyzed ? profileText(text, explain.format) : text;
      const isBoxed = !explain.isAnalyzed && (explain.format === 'default' || explain.format === 'text');
      rows.push([key, withNames(shown, shownNames, isBoxed)]);
    }
  }
  for (const note of notes) rows.push(['tsdb', note]);
  const { columns } = result;
  return {
    columns,
    async *batches() {
      yield textBatch(columns, rows);
    },
    [Symbol.asyncDispose]: async () => {},
  };
}

/** The statement's name for a table, by the table's name here. */
export type ShownNames = ReadonlyMap<string, string>;

/** In boxes of text every line keeps its width. */
function withNames(text: string, names: ShownNames, isBoxed: boolean): string {
  if (names.size === 0) return text;
  return text.replaceAll(/_warm_\d+\.main\.frame\b( *)/g, (found, spaces: string) => {
    const name = names.get(found.trimEnd()) ?? 'frame';
    return isBoxed ? name.slice(0, found.length).padEnd(found.length) : name + spaces;
  });
}

function textAt({ data, offsets }: Batch['vectors'][number], row: number): string {
  if (data === null || offsets === null) return '';
  return Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString('utf8', offsets[row], offsets[row + 1]);
}

function textBatch(columns: readonly Column[], rows: readonly (readonly string[])[]): Batch {
  const vectors = columns.map(({ type }, index) => {
    const texts = rows.map((row) => Buffer.from(row[index] ?? ''));
    const offsets = new Int32Array(rows.length + 1);
    for (const [row, { length }] of texts.entries()) offsets[row + 1] = (offsets[row] ?? 0) + length;
    return { type, length: rows.length, validity: null, offsets, data: Buffer.concat(texts), children: [] };
  });
  return { columns, rows: rows.length, vectors };
}
