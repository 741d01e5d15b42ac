import { sqlName } from '@framehold/columns';
import type { LiveSource } from '../../protocol/protocol.ts';
import { parquetRelation, unpruned } from '../parquet/parquet-relation.ts';

/** Rows that the external database exported, with the types that they have here. */
export function liveRelation({ path, columns }: LiveSource): string {
  if (path === undefined) {
    const fields = columns.map(({ name, type }) => `${sqlName(name)} ${type}`).join(', ');
    const items = columns.map(({ name }) => `rows.item.${sqlName(name)} AS ${sqlName(name)}`).join(', ');
    // A planner does not see that there are no rows, and plans as if there were some.
    return `(SELECT ${items} FROM unnest(CAST([] AS STRUCT(${fields})[])) AS rows(item))`;
  }
  const items = columns.map((column) => `CAST(${readValue(column)} AS ${column.type}) AS ${sqlName(column.name)}`);
  return `(SELECT ${items.join(', ')} FROM ${unpruned(parquetRelation([{ path }]), [{ path }])})`;
}

function readValue({ stored, form }: LiveSource['columns'][number]): string {
  const value = sqlName(stored);
  switch (form) {
    case 'same':
      return value;
    // A cast would be into the time zone of the statement.
    case 'utc':
      return `make_timestamp(epoch_us(${value}))`;
    case 'nanoseconds':
      return `make_timestamp_ns(${value})`;
    case 'emptyIsNull':
      return `nullif(${value}, '')`;
    default:
      return form satisfies never;
  }
}
