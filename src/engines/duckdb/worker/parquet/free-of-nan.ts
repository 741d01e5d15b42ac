import { type DeclaredType, innerTypes, type Vector } from '@framehold/columns';
import type { Connection } from '@framehold/duckdb';
import { floatValues } from './equal-values.ts';
import { parquetRelation, queryReadable } from './parquet-relation.ts';
import { columnsBesideNan } from './safe-pruning.ts';

/** Whether no NaN lies beside the bounds that a file has of its floats. Takes as long as to read those columns. */
export async function isFreeOfNan(connection: Connection, path: string): Promise<boolean> {
  const columns = columnsBesideNan(path);
  if (columns === undefined || columns.length === 0) return columns !== undefined;
  const items = columns.map((position) => `#${position + 1} AS c${position}`);
  await using rows = await queryReadable(
    connection,
    `(SELECT ${items.join(', ')} FROM ${parquetRelation([{ path }])})`,
  );
  if (!rows.columns.every(({ type }) => showsFloats(type))) return false;
  for await (const batch of rows.batches()) if (batch.vectors.some(hasNan)) return false;
  return true;
}

/** Those of a VARIANT are read as JSON. */
function showsFloats(type: DeclaredType): boolean {
  const kinds = kindsOf(type);
  return kinds.includes('float') && !kinds.includes('json');
}

function kindsOf(type: DeclaredType): DeclaredType['kind'][] {
  return [type.kind, ...innerTypes(type).flatMap(kindsOf)];
}

/** Also under a NULL: to find one too many costs only pruning. */
function hasNan({ type, length, data, children }: Vector): boolean {
  if (type.kind !== 'float') return children.some(hasNan);
  if (data === null) return false;
  const values = floatValues(data.subarray(0, (length * type.bits) / 8), type.bits);
  for (let at = 0; at < length; at++) if (Number.isNaN(values[at])) return true;
  return false;
}
