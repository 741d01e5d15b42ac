import { sqlName } from '@framehold/columns';
import { AppError } from '../../../core/errors/app-error.ts';
import type { LiveRead } from '../../../core/sql/live-read.ts';
import type { LiveColumn } from '../../../core/sql/live-tables.ts';
import type { Tsdb } from '../../../core/sql/tsdb.ts';
import { asciiLower } from '../../../core/text/ascii-lower.ts';
import { queryFault } from '../../../core/text/tsdb-query.ts';
import { type Answer, askJson, QuestDbError } from './json-answer.ts';
import { type QuestDbType, questDbType } from './questdb-type.ts';

/** A column in QuestDB's type and in the exported one. */
export interface SourceColumn extends LiveColumn {
  /** In the SQL of QuestDB. */
  readonly exported: string;
  readonly questDbType: string;
}

/** A table or query of QuestDB. */
export interface Source {
  /** The text behind FROM. */
  readonly from: string;
  /** Its name in messages. */
  readonly shown: string;
  /** Undefined of a query. */
  readonly timestamp: { readonly name: string; readonly unit: 'us' | 'ns' } | undefined;
  readonly isTable: boolean;
  readonly columns: readonly SourceColumn[];
  readonly locate: (error: QuestDbError) => number | undefined;
}

/** A name that no table of QuestDB has: it would refuse one of these characters. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: QuestDB refuses them
const noTableName = /["'?,\\/:)(+*%~\0-\x1f\x7f-\x9f\ufeff]|^\.|\.$|^$/;
/** Tables that QuestDB keeps for itself, and schemas of functions that it reads like tables. */
const systemTable = /^(?:sys\.|telemetry|_query_trace|information_schema\.|pg_catalog\.)/i;
/** The size of its header buffer, less the other headers. */
const longestQuery = 60_000;

export function isReadableName(name: string): boolean {
  return !noTableName.test(name) && !systemTable.test(name) && name.length <= 127;
}

/** Rejects with `sql_error` where there is none, or the query is wrong. */
export async function describeLive(
  tsdb: Tsdb,
  read: LiveRead,
  options: { readonly signal: AbortSignal },
): Promise<Source> {
  return read.query === undefined
    ? await describeTable(tsdb, read, options)
    : await describeQuery(tsdb, read, read.query, options);
}

/** By a function that knows tables alone: a name behind FROM may also be that of a function. */
async function describeTable(tsdb: Tsdb, read: LiveRead, options: { readonly signal: AbortSignal }): Promise<Source> {
  const { name, position } = read;
  const shown = `tsdb.${name}`;
  const absent = (): AppError =>
    new AppError('sql_error', `table ${shown} not found`, {
      hint: 'SHOW TABLES FROM tsdb lists the tables of the external database',
      position,
    });
  if (!isReadableName(name)) throw absent();
  const sql = `SELECT "column", type, designated FROM table_columns('${name}')`;
  const { dataset } = await askJson(tsdb, 'exec', sql, options).catch((error: unknown) => {
    throw isAbsence(error) ? absent() : error;
  });
  const rows = (Array.isArray(dataset) ? dataset : []) as readonly (readonly [string, string, boolean])[];
  const timestamp = rows.find(([, , designated]) => designated);
  return {
    from: sqlName(name),
    shown,
    isTable: true,
    timestamp: timestamp && { name: timestamp[0], unit: timestamp[1] === 'TIMESTAMP_NS' ? 'ns' : 'us' },
    columns: sourceColumns(
      rows.map(([column, type]) => ({ name: column, type })),
      shown,
      { isComputed: false },
    ),
    locate: () => position,
  };
}

async function describeQuery(
  tsdb: Tsdb,
  { position }: LiveRead,
  query: string,
  options: { readonly signal: AbortSignal },
): Promise<Source> {
  // The gate has checked it: nothing else is sent.
  if (queryFault(query) !== undefined) throw new Error('a query that the gate refuses is to be sent');
  if (encodeURIComponent(query).length > longestQuery) {
    throw new AppError('too_large', 'the query for the external database is too long for a request', { position });
  }
  const from = `(\n${query}\n)`;
  const head = 'SELECT * FROM ';
  const locate = ({ position: at }: QuestDbError): number | undefined => {
    // Doubled quotes would shift later positions.
    if (at === undefined || position === undefined || query.includes("'")) return position;
    return position + Math.min(Math.max(0, at - head.length - 2), query.length);
  };
  const shown = 'tsdb.query';
  const answer = await askJson(tsdb, 'api/v1/sql/validate', head + from, options).catch((error: unknown) => {
    throw error instanceof QuestDbError && error.status === 400 ? refused(error, locate(error)) : error;
  });
  const columns = (Array.isArray(answer.columns) ? answer.columns : []) as readonly Answer[];
  return {
    from,
    shown,
    isTable: false,
    timestamp: undefined,
    columns: sourceColumns(columns.map(namedType), shown, { isComputed: true }),
    locate: () => position,
  };
}

export function refused(error: QuestDbError, position: number | undefined): AppError {
  if (error.status >= 500) {
    // Its text may quote the statement, which is never logged.
    return new AppError('tsdb_unreachable', `the external database failed: it answered ${error.status}`, {
      hint: 'its own log tells why',
    });
  }
  return new AppError('sql_error', `the external database: ${error.message}`, {
    hint: 'the text is in the dialect of QuestDB',
    position,
  });
}

function isAbsence(error: unknown): boolean {
  return error instanceof QuestDbError && /^table does not exist/i.test(error.message);
}

/** A column of an answer. */
function namedType({ name, type, dim, elemType }: Answer): { readonly name: string; readonly type: string } {
  const isArray = type === 'ARRAY' && typeof dim === 'number';
  return { name: String(name), type: isArray ? `${String(elemType)}${'[]'.repeat(dim)}` : String(type) };
}

function sourceColumns(
  columns: readonly { readonly name: string; readonly type: string }[],
  shown: string,
  options: { readonly isComputed: boolean },
): readonly SourceColumn[] {
  const names = new Set(columns.map(({ name }) => asciiLower(name)));
  if (names.size === 0 || names.size < columns.length || columns.some(({ name }) => /["\0]|^$/.test(name))) {
    throw new AppError('tsdb_unreachable', `the columns of ${shown} cannot be told`, {
      hint: 'give each column of the query a name of its own',
    });
  }
  const found = columns.flatMap(({ name, type }, index) => {
    const known = questDbType(type, options);
    if (known === undefined && options.isComputed) throw unreadable(name, type);
    return known === undefined ? [] : [sourceColumn(name, type, known, storedName(index, names))];
  });
  if (found.length > 0) return found;
  throw new AppError('unsupported_type', `no column of ${shown} has a type that can be read here`);
}

function sourceColumn(name: string, questDb: string, { type, cast, form }: QuestDbType, alias: string): SourceColumn {
  const column = sqlName(name);
  const isCast = cast !== undefined;
  return {
    name,
    type,
    form,
    questDbType: questDb,
    stored: isCast ? alias : name,
    exported: isCast ? `CAST(${column} AS ${cast}) ${sqlName(alias)}` : column,
  };
}

/** For columns with a cast: a condition on the column must mean the column itself. */
function storedName(index: number, taken: ReadonlySet<string>): string {
  let name = `column${index}`;
  while (taken.has(name)) name += '_';
  return name;
}

function unreadable(name: string, type: string): AppError {
  return new AppError('unsupported_type', `column ${JSON.stringify(name)} of the query is of type ${type}`, {
    hint: 'cast it in the query to a type that it can be read as, such as VARCHAR',
  });
}
