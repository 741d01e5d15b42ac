import { ownTurn } from '@framehold/async';
import type { Column, DataType } from '@framehold/columns';
import { AppError } from '../core/errors/app-error.ts';
import type { Tsdb } from '../core/sql/tsdb.ts';
import { queryFault, withoutComments } from '../core/text/tsdb-query.ts';
import type { Row } from './plot-rows.ts';
import { mostRows } from './plot-spec.ts';

export interface TsdbRows {
  readonly columns: readonly Column[];
  /** At most one more than are drawn. */
  readonly rows: readonly Row[];
}

const mostBytes = 64_000_000;
/** Parsed in one go. */
const bytesInTurn = 512 * 1024;
/** It goes in a request target, and is read in one go. */
const longestQuery = 100_000;
const longestSlice = 8_000_000;
const [QUOTE, COMMA, OPEN_BRACKET, BACKSLASH, CLOSE_BRACKET] = [34, 44, 91, 92, 93];
const rowsKey = Buffer.from('"dataset":[');

/** The first rows of a query, from the external database. It runs any statement, so only a query is passed on. */
export async function tsdbRows(tsdb: Tsdb, sql: string, options: { readonly signal: AbortSignal }): Promise<TsdbRows> {
  const query = checkedQuery(sql);
  const parameters = [['query', query] as const, ['limit', String(mostRows + 1)] as const, ['fmt', 'json'] as const];
  const request = { door: 'exec', parameters, statementTimeout: undefined, acceptEncoding: undefined } as const;
  const { status, body } = await tsdb.forward(request, options);
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of body) {
    pieces.push(piece as Buffer);
    bytes += (piece as Buffer).length;
    if (bytes > mostBytes) throw new AppError('too_large', `the first ${mostRows} rows are too large for a plot`);
  }
  return rowsOf(status, Buffer.concat(pieces));
}

/** The rows come last in the answer, and are parsed in slices. */
async function rowsOf(status: number, answer: Buffer): Promise<TsdbRows> {
  const from = answer.indexOf(rowsKey) + rowsKey.length;
  if (from < rowsKey.length) return parsed(status, answer.toString());
  const rows: Row[] = [];
  let at = from;
  for (let end = sliceEnd(answer, at); end > at; end = sliceEnd(answer, at)) {
    if (at > from) await ownTurn('');
    for (const row of parsed(status, `{"columns":[],"dataset":[${answer.toString('utf8', at, end)}]}`).rows)
      rows.push(row);
    at = answer[end] === COMMA ? end + 1 : end;
  }
  const { columns } = parsed(status, answer.toString('utf8', 0, from) + answer.toString('utf8', at));
  return { columns, rows };
}

/** Behind the last row of the slice that begins here, or its beginning where no row does. */
function sliceEnd(bytes: Buffer, from: number): number {
  let end = from;
  let depth = 0;
  let isText = false;
  for (let at = from; at < bytes.length && end - from < bytesInTurn; at++) {
    const byte = bytes[at];
    if (byte === BACKSLASH) at++;
    else if (byte === QUOTE) isText = !isText;
    else if (isText) continue;
    else if (byte === OPEN_BRACKET) depth++;
    else if (byte === CLOSE_BRACKET) {
      if (depth === 0) break;
      if (--depth === 0) end = at + 1;
    }
    if (at - from > longestSlice) throw new AppError('too_large', 'a row is too large for a plot');
  }
  return end;
}

function parsed(status: number, text: string): TsdbRows {
  let answer: Record<string, unknown>;
  try {
    answer = JSON.parse(text) as Record<string, unknown>;
  } catch {
    throw new AppError('tsdb_unreachable', `the external database answered ${status} without JSON`);
  }
  const { error, position, columns, dataset } = answer;
  if (!Array.isArray(columns) || !Array.isArray(dataset)) {
    throw new AppError('sql_error', typeof error === 'string' ? error : 'the statement gives no rows', {
      ...(typeof position === 'number' && { position }),
    });
  }
  const named = columns as readonly { readonly name: string; readonly type: string }[];
  return { columns: named.map(({ name, type }) => ({ name, type: typeOf(type) })), rows: dataset as Row[] };
}

function typeOf(name: string): DataType {
  switch (name.toUpperCase()) {
    case 'TIMESTAMP':
    case 'TIMESTAMP_NS':
    case 'DATE':
      return { kind: 'timestamp', unit: 'us', zoned: false };
    case 'DOUBLE':
    case 'FLOAT':
      return { kind: 'float', bits: 64 };
    case 'BYTE':
    case 'SHORT':
    case 'INT':
      return { kind: 'int', bits: 32, signed: true };
    case 'LONG':
      return { kind: 'int', bits: 64, signed: true };
    case 'BOOLEAN':
      return { kind: 'boolean' };
    default:
      return name.toUpperCase().startsWith('DECIMAL') ? { kind: 'float', bits: 64 } : { kind: 'utf8' };
  }
}

/** The query as it may be sent. */
function checkedQuery(sql: string): string {
  if (sql.length > longestQuery) {
    throw new AppError('too_large', `the query has ${sql.length} characters, and at most ${longestQuery} are sent`);
  }
  const query = withoutComments(sql);
  const fault = queryFault(query);
  if (fault === undefined) return query;
  throw new AppError('sql_forbidden', `only a query can be plotted: ${fault.problem}`, { hint: fault.hint });
}
