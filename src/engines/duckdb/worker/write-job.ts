import { open, rm } from 'node:fs/promises';
import { AppError } from '../../../core/app-error.ts';
import type { Compression, WrittenPart } from '../../../core/frame-engine.ts';
import type { WriteSource } from '../protocol.ts';
import { sqlName, sqlString } from '../sql-text.ts';
import { DuckDbError, describeDataError, resourceError } from './duckdb-error.ts';
import { parquetRelation } from './parquet-relation.ts';
import { columnNamesKey, probe } from './probe-job.ts';
import type { Connection } from './session.ts';
import { sha256 } from './sha256-job.ts';
import { uniqueNames } from './unique-names.ts';

const HUGEINT = 16;
const UHUGEINT = 32;
const INTERVAL = 15;
const UNION = 28;
const VARIANT = 41;

/** Rows in a row group: small enough that a page in the middle of a frame is cheap to reach. */
const rowGroupRows = 65_536;

/** Marks our own complaint inside an error that DuckDB reports. */
const lossMark = 'framehold-loss:';

export interface WriteContext {
  readonly connection: Connection;
  readonly signal: AbortSignal;
  readonly input: AsyncIterable<Uint8Array>;
  readonly threads: { readonly threads: number; readonly writeThreads: number };
}

/** Writes a Parquet file, fsyncs it and reads it back for its checksum. Leaves nothing at the path when it fails. */
export async function writePart(
  context: WriteContext,
  { source, path, compression }: { source: WriteSource; path: string; compression: Compression },
): Promise<WrittenPart> {
  const { connection, signal } = context;
  const { threads, writeThreads } = context.threads;
  try {
    await using relation = await openSource(context, source);
    if (writeThreads !== threads) await connection.run(`SET threads = ${writeThreads}`);
    try {
      await copyToParquet(connection, relation, path, compression);
    } finally {
      if (writeThreads !== threads) await connection.run(`SET threads = ${threads}`);
    }
    await syncFile(path);
    const facts = await probe(connection, path);
    return { ...facts, ...(await sha256(path, signal)) };
  } catch (error) {
    await rm(path, { force: true });
    throw explain(error, path);
  }
}

interface SourceRelation extends AsyncDisposable {
  readonly sql: string;
  /** Exact column names: they may repeat. */
  readonly names: readonly string[];
}

async function openSource({ connection, signal, input }: WriteContext, source: WriteSource): Promise<SourceRelation> {
  const nothing = async (): Promise<void> => {};
  switch (source.kind) {
    case 'sql': {
      // Inside a subquery DuckDB would rename what repeats.
      const names = (await columnsOf(connection, source.sql)).map((column) => column.name);
      return { sql: `(${source.sql})`, names, [Symbol.asyncDispose]: nothing };
    }
    case 'parquet': {
      const names = source.columns.map((column) => column.name);
      return { sql: parquetRelation(source.parts.map((part) => part.path)), names, [Symbol.asyncDispose]: nothing };
    }
    case 'file':
      throw new AppError('unsupported_format', `files of the format ${source.format.kind} cannot be read yet`);
    case 'arrow': {
      // Loaded when it is needed: a worker's start is what a crash costs.
      const { loadArrowStream } = await import('./arrow-load.ts');
      return await loadArrowStream(connection, input, { signal });
    }
    default:
      source satisfies never;
      throw new Error('unreachable');
  }
}

async function copyToParquet(
  connection: Connection,
  relation: SourceRelation,
  path: string,
  { algorithm, level }: Compression,
): Promise<void> {
  const columns = await columnsOf(connection, `SELECT * FROM ${relation.sql}`);
  const { names } = relation;
  await refuseNestedLoss(connection, relation);
  const items = columns.map(({ typeId }, index) => withoutLoss(`#${index + 1}`, typeId, names[index] ?? ''));
  const aliases = uniqueNames(names);
  const select = items.map((item, index) => `${item} AS ${sqlName(aliases[index] ?? '')}`).join(', ');
  const options = [
    'FORMAT parquet',
    `COMPRESSION ${algorithm}`,
    `ROW_GROUP_SIZE ${rowGroupRows}`,
    ...(level === undefined ? [] : [`COMPRESSION_LEVEL ${level}`]),
    ...(names.some((name, index) => name !== aliases[index])
      ? [`KV_METADATA {${sqlName(columnNamesKey)}: ${sqlString(JSON.stringify(names))}}`]
      : []),
  ];
  await connection.run(`COPY (SELECT ${select} FROM ${relation.sql}) TO ${sqlString(path)} (${options.join(', ')})`);
}

async function columnsOf(connection: Connection, sql: string): Promise<{ name: string; typeId: number }[]> {
  using statement = await connection.prepare(sql);
  return statement.columns;
}

/** The value as Parquet can hold it. DuckDB would write a HUGEINT as DOUBLE and cut an interval to milliseconds, silently. */
function withoutLoss(item: string, typeId: number, name: string): string {
  const refuse = (why: string): string => `error(${sqlString(`${lossMark}${JSON.stringify([name, why])}`)})`;
  switch (typeId) {
    case HUGEINT:
    case UHUGEINT:
      return `CASE WHEN ${item} IS NULL OR TRY_CAST(${item} AS DECIMAL(38,0)) IS NOT NULL THEN TRY_CAST(${item} AS DECIMAL(38,0)) ELSE ${refuse('an integer of more than 38 digits')} END`;
    case INTERVAL:
      return `CASE WHEN year(${item}) < 0 OR month(${item}) < 0 OR day(${item}) < 0 OR hour(${item}) < 0 OR minute(${item}) < 0 OR microsecond(${item}) < 0 THEN ${refuse('a negative interval')} WHEN hour(${item})::BIGINT * 3_600_000 + minute(${item}) * 60_000 + microsecond(${item}) // 1000 >= 4_294_967_296 THEN ${refuse('a time of 2^32 milliseconds or more in an interval')} WHEN microsecond(${item}) % 1000 <> 0 THEN ${refuse('an interval finer than milliseconds')} ELSE ${item} END`;
    case UNION:
    case VARIANT:
      return `to_json(${item})`;
    default:
      return item;
  }
}

const lossyInside = /\b(INTERVAL|HUGEINT|UHUGEINT)\b/;

/** Inside lists, structs and maps the same types would be changed just as silently. */
async function refuseNestedLoss(connection: Connection, { sql, names }: SourceRelation): Promise<void> {
  const described = await connection.rows<{ column_type: string }>(
    `SELECT column_type FROM (DESCRIBE SELECT * FROM ${sql})`,
  );
  for (const [index, { column_type: type }] of described.entries()) {
    const withoutNames = type.replaceAll(/"(?:[^"]|"")*"/g, '');
    const found = /[[(]/.test(withoutNames) ? lossyInside.exec(withoutNames) : null;
    if (found === null) continue;
    throw new AppError(
      'unsupported_type',
      `column ${JSON.stringify(names[index])} holds ${found[1]} values inside ${type}, which Parquet cannot keep`,
    );
  }
}

async function syncFile(path: string): Promise<void> {
  await using file = await open(path, 'r+');
  await file.sync();
}

function explain(error: unknown, path: string): unknown {
  if (!(error instanceof DuckDbError) || error.interrupted) return error;
  const loss = error.message.indexOf(lossMark);
  if (loss >= 0) {
    const text = error.message.slice(loss + lossMark.length);
    const [name, why] = JSON.parse(text.slice(0, text.lastIndexOf(']') + 1)) as [string, string];
    return new AppError('unsupported_type', `column ${JSON.stringify(name)} holds ${why}, which Parquet cannot keep`);
  }
  const resource = resourceError(error);
  if (resource !== undefined || !error.isCallers) return resource ?? error;
  return new AppError('invalid_input', describeDataError(error, path), { cause: error });
}
