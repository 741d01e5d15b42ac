import { sqlString } from '@framehold/columns';
import { type DuckDbError, duckdbType } from '@framehold/duckdb';
import { AppError } from '../../../../core/errors/app-error.ts';

/** Marks our own complaint inside an error that DuckDB reports. */
const lossMark = 'framehold-loss:';

/** The value as Parquet can hold it. DuckDB would write a HUGEINT as DOUBLE and cut an interval to milliseconds, silently. */
export function withoutLoss(item: string, typeId: number, name: string): string {
  const refuse = (why: string): string => `error(${sqlString(`${lossMark}${JSON.stringify([name, why])}`)})`;
  switch (typeId) {
    case duckdbType.HUGEINT:
    case duckdbType.UHUGEINT:
      return `CASE WHEN ${item} IS NULL OR TRY_CAST(${item} AS DECIMAL(38,0)) IS NOT NULL THEN TRY_CAST(${item} AS DECIMAL(38,0)) ELSE ${refuse('an integer of more than 38 digits')} END`;
    case duckdbType.INTERVAL:
      return `CASE WHEN year(${item}) < 0 OR month(${item}) < 0 OR day(${item}) < 0 OR hour(${item}) < 0 OR minute(${item}) < 0 OR microsecond(${item}) < 0 THEN ${refuse('a negative interval')} WHEN hour(${item})::BIGINT * 3_600_000 + minute(${item}) * 60_000 + microsecond(${item}) // 1000 >= 4_294_967_296 THEN ${refuse('a time of 2^32 milliseconds or more in an interval')} WHEN microsecond(${item}) % 1000 <> 0 THEN ${refuse('an interval finer than milliseconds')} ELSE ${item} END`;
    case duckdbType.TIMESTAMP_S:
      // The writer's own conversion fails at infinity.
      return `CAST(${item} AS TIMESTAMP)`;
    case duckdbType.UNION:
    case duckdbType.VARIANT:
      return `to_json(${item})`;
    default:
      return item;
  }
}

/** Whether a value was refused because Parquet cannot hold it. */
export function isLoss({ message }: DuckDbError): boolean {
  return message.includes(lossMark);
}

/** What to say of such a value. */
export function lossError(error: DuckDbError): AppError | undefined {
  if (!isLoss(error)) return undefined;
  const text = error.message.slice(error.message.indexOf(lossMark) + lossMark.length);
  const [name, why] = JSON.parse(text.slice(0, text.lastIndexOf(']') + 1)) as [string, string];
  return new AppError('unsupported_type', `column ${JSON.stringify(name)} holds ${why}, which Parquet cannot keep`);
}
