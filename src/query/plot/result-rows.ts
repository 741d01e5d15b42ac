import type { SqlResult } from '../../core/sql/sql.ts';
import type { Row } from './plot-rows.ts';

const utf8 = new TextDecoder();

/** All rows of a result of the form `exec-json-quoted`: only for small results. */
export async function resultRows(result: SqlResult): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for await (const { bytes } of result.rows()) {
    // Each row ends in a comma.
    const text = utf8.decode(bytes).replace(/,\s*$/, '');
    if (text !== '') rows.push(...(JSON.parse(`[${text}]`) as Row[]));
  }
  return rows;
}
