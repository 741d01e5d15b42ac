import { open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { ArrowStream, toBatches } from '@framehold/arrow-ipc';
import { type Batch, type Column, sqlName, sqlString, sqlTypeName } from '@framehold/columns';
import { type Connection, DuckDbError, nestedTypes, type StatementColumn } from '@framehold/duckdb';
import { rowGroupRows } from '@framehold/parquet';
import { AppError } from '../../../../core/errors/app-error.ts';
import type { FileReport, PartFacts, WrittenPart } from '../../../../core/rows/frame-engine.ts';
import type { Job, WorkerSettings, WriteSource } from '../../protocol/protocol.ts';
import { loadArrow } from '../append/arrow-to-table.ts';
import { firstError } from '../first-error.ts';
import { importCsv } from '../import/csv/csv-file.ts';
import { importJson } from '../import/json/json-file.ts';
import { keepParquet } from '../import/parquet-file.ts';
import { addedRelation, changedRelation, changesRelation } from '../parquet/changed-rows.ts';
import { checksumOf } from '../parquet/checksum.ts';
import { copyExactly } from '../parquet/exact-copy.ts';
import { firstNulls } from '../parquet/first-nulls.ts';
import { flatColumns } from '../parquet/flat-columns.ts';
import { type FlatPart, writeFlatPart } from '../parquet/flat-part.ts';
import { lossError, withoutLoss } from '../parquet/parquet-loss.ts';
import { parquetNames } from '../parquet/parquet-names.ts';
import { parquetRelation } from '../parquet/parquet-relation.ts';
import { partsRelation, rowsRelation, selected } from '../parquet/part-rows.ts';
import { probe, probeColumns } from '../parquet/probe.ts';
import { haveSameValues } from '../parquet/value-digest.ts';
import { describeDataError, resourceError } from '../resource-error.ts';

/** For 20,000 columns, 200 characters each. */
const longestNames = 4_000_000;

export interface WriteContext {
  readonly connection: Connection;
  readonly signal: AbortSignal;
  readonly input: AsyncIterable<Uint8Array>;
  readonly settings: Pick<WorkerSettings, 'threads' | 'writeThreads' | 'tempDirectory'>;
}

type WriteJob = Omit<Extract<Job, { kind: 'write' }>, 'kind'>;

/** Writes a Parquet file, fsyncs it and takes its checksum. Leaves nothing at the path when it fails. */
export async function writePart(context: WriteContext, job: WriteJob): Promise<WrittenPart> {
  const { connection, signal } = context;
  const { source, path, compression, isTemporary, notNull, comparesValues } = job;
  try {
    const { flat, report } = await withWriteThreads(context, () => writeRows(context, job));
    const [syncing, probing, summing] = [
      isTemporary ? undefined : syncFile(path),
      flat === undefined ? probe(connection, path, { looksForNan: isKept(source) }) : factsOf(connection, path, flat),
      flat ?? checksumOf(path, signal),
    ];
    // None may still be at work when the file is removed.
    await Promise.allSettled([syncing, probing, summing]);
    await syncing;
    const isCompressed = flat === undefined || compression.algorithm === 'uncompressed';
    const { checksum, bytes } = await summing;
    const facts = await probing;
    checkNames(facts.columns);
    const nulls = await firstNulls(connection, path, facts.columns, notNull);
    const differs =
      comparesValues &&
      source.kind === 'parquet' &&
      !(await haveSameValues(connection, [rowsRelation(source), parquetRelation([{ path }])], signal));
    return {
      ...facts,
      checksum,
      bytes,
      isCompressed,
      ...(report !== undefined && { report }),
      ...(nulls.length > 0 && { nulls }),
      ...(differs && { differs }),
    };
  } catch (error) {
    await rm(path, { force: true });
    throw explain(error, source, path);
  }
}

/** The uploaded file itself is kept as the part. */
function isKept(source: WriteSource): boolean {
  return source.kind === 'file' && source.format.kind === 'parquet';
}

/** A process that serves other callers reads, writes and reports these names. */
function checkNames(columns: PartFacts['columns']): void {
  const { length } = JSON.stringify(columns);
  if (length <= longestNames) return;
  throw new AppError('too_large', `the names and types of the columns have ${length} characters`, {
    hint: `they may have ${longestNames}; is the first line one of names?`,
  });
}

/** The facts of a file that was written without DuckDB, with its columns as DuckDB's types. */
async function factsOf(
  connection: Connection,
  path: string,
  { names, rows, uncompressedBytes }: FlatPart,
): Promise<PartFacts> {
  return { rows, columns: await probeColumns(connection, path, names), uncompressedBytes };
}

interface Written {
  /** If the file was written without DuckDB. */
  readonly flat?: FlatPart | undefined;
  readonly report?: FileReport | undefined;
}

async function writeRows(context: WriteContext, job: WriteJob): Promise<Written> {
  const { source } = job;
  if (source.kind === 'file') return await importFile(context, source, job);
  if (source.kind === 'arrow') return await writeArrow(context, job);
  await copyToParquet(context, await relationOf(context.connection, source), job);
  return {};
}

async function writeArrow(context: WriteContext, job: WriteJob): Promise<Written> {
  const { connection, signal, input } = context;
  const { path, compressesLater } = job;
  await using stream = await ArrowStream.open(input);
  const columns = compressesLater ? flatColumns(stream.fields) : undefined;
  if (columns !== undefined) return { flat: await writeFlatPart(path, columns, toBatches(stream, columns), signal) };
  await using relation = await loadArrow(connection, stream, { signal });
  await copyToParquet(context, relation, job);
  return {};
}

async function withWriteThreads<T>({ connection, settings }: WriteContext, work: () => Promise<T>): Promise<T> {
  const { threads, writeThreads } = settings;
  if (writeThreads === threads) return await work();
  await connection.run(`SET threads = ${writeThreads}`);
  try {
    return await work();
  } finally {
    await connection.tidy(`SET threads = ${threads}`);
  }
}

async function importFile(
  context: WriteContext,
  { path: source, format }: Extract<WriteSource, { kind: 'file' }>,
  written: WriteJob,
): Promise<Written> {
  const { connection, signal, settings } = context;
  const { path, compressesLater } = written;
  let flat: FlatPart | undefined;
  const writeBatches = async (columns: readonly Column[], batches: AsyncIterable<Batch>): Promise<void> => {
    flat = await writeFlatPart(path, columns, batches, signal);
  };
  const job = {
    connection,
    signal,
    path: source,
    scratchPath: join(settings.tempDirectory, 'import'),
    copy: (relation: Relation) => copyToParquet(context, relation, written),
    ...(compressesLater && { writeBatches }),
  };
  switch (format.kind) {
    case 'csv': {
      const report = await importCsv(job, format);
      return { flat, report };
    }
    case 'json':
      return { report: await importJson(job, format) };
    case 'parquet':
      return { report: await keepParquet(connection, source, path) };
    default:
      format satisfies never;
      throw new Error('unreachable');
  }
}

interface Relation {
  readonly sql: string;
  /** Exact column names: they may repeat. */
  readonly names: readonly string[];
  /** Relations that have all its values and are sooner read. Default: itself. */
  readonly sources?: readonly string[] | undefined;
}

async function relationOf(
  connection: Connection,
  source: Extract<WriteSource, { kind: 'sql' | 'parquet' | 'changed' | 'added' }>,
): Promise<Relation> {
  switch (source.kind) {
    case 'sql': {
      // Inside a subquery DuckDB would rename repeated columns.
      const names = (await columnsOf(connection, source.sql)).map((column) => column.name);
      return { sql: `(${source.sql})`, names };
    }
    case 'parquet': {
      const names = selected(source.columns, source.select).map((column) => column.name);
      return { sql: castRelation(rowsRelation(source), source), names };
    }
    case 'changed':
      return {
        sql: changedRelation(source),
        names: source.columns.map(({ name }) => name),
        sources: [partsRelation([source.part], source.columns), changesRelation(source.changes)],
      };
    case 'added':
      return { sql: addedRelation(source), names: source.columns.map(({ name }) => name) };
    default:
      source satisfies never;
      throw new Error('unreachable');
  }
}

function castRelation(relation: string, { columns, castTo }: Extract<WriteSource, { kind: 'parquet' }>): string {
  if (castTo === undefined) return relation;
  const items = castTo.map(({ type }, index) => {
    const isSame = isDeepStrictEqual(type, columns[index]?.type);
    return `${isSame ? `#${index + 1}` : `CAST(#${index + 1} AS ${sqlTypeName(type)})`} AS c${index}`;
  });
  return `(SELECT ${items.join(', ')} FROM ${relation})`;
}

async function copyToParquet(
  { connection, signal }: WriteContext,
  relation: Relation,
  { path, compression }: WriteJob,
): Promise<void> {
  const columns = await columnsOf(connection, `SELECT * FROM ${relation.sql}`);
  const { names, sources = [relation.sql] } = relation;
  if (columns.some(({ typeId }) => nestedTypes.has(typeId))) await refuseNestedLoss(connection, relation);
  const items = columns.map(({ typeId }, index) => withoutLoss(`#${index + 1}`, typeId, names[index] ?? ''));
  const written = parquetNames(names);
  const list = items.map((item, index) => `${item} AS ${sqlName(written.names[index] ?? '')}`).join(', ');
  const metadata = [...written.metadata].map(([key, value]) => `${sqlName(key)}: ${sqlString(value)}`);
  const options = [
    // It would leave its own temporary file behind when a value is refused.
    'USE_TMP_FILE false',
    `ROW_GROUP_SIZE ${rowGroupRows}`,
    ...(metadata.length > 0 ? [`KV_METADATA {${metadata.join(', ')}}`] : []),
  ];
  const select = `SELECT ${list} FROM ${relation.sql}`;
  await copyExactly(connection, { select, columns, sources, path, compression, options }, signal);
}

async function columnsOf(connection: Connection, sql: string): Promise<readonly StatementColumn[]> {
  using statement = await connection.prepare(sql);
  return statement.columns;
}

const lossyInside = /\b(INTERVAL|HUGEINT|UHUGEINT)\b/;

/** Inside lists, structs and maps the same types would be changed just as silently. */
async function refuseNestedLoss(connection: Connection, { sql, names }: Relation): Promise<void> {
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

function explain(thrown: unknown, { kind }: WriteSource, path: string): unknown {
  const error = firstError(thrown);
  if (!(error instanceof DuckDbError) || error.interrupted) return error;
  const loss = lossError(error);
  if (loss !== undefined) return loss;
  const resource = resourceError(error);
  if (resource !== undefined) return resource;
  if ((kind === 'parquet' || kind === 'changed') && !error.fatal)
    return new AppError('frame_damaged', 'the frame cannot be read', { cause: error });
  if (!error.isCallers) return error;
  return new AppError('invalid_input', describeDataError(error, path), { cause: error });
}
