import { basename } from 'node:path';
import { CodedError, type DataType } from '@framehold/columns';
import { ConnectFailure, isSessionLost } from '@framehold/spark-connect';
import { AppError, toAppError } from '../../core/errors/app-error.ts';
import type { FrameTable, Query } from '../../core/sql/sql.ts';
import { handleOf } from './frame-relations.ts';
import type { PathMap } from './path-map.ts';

export interface FailureContext {
  /** Name of the engine. */
  readonly engine: string;
  readonly pathMap: PathMap;
  readonly query: Pick<Query, 'sql'>;
  /** The place in the caller's text for one in the query's; undefined where the query is all ours. */
  readonly sourcePosition: ((position: number) => number) | undefined;
  /** Those of the query. */
  readonly frames: readonly FrameTable[];
}

/** A driver that was restarted takes longer, but a caller that retries soon learns soon. */
const retryAfterSeconds = 5;

/** The caller's error for a failed query. Never a stack trace, an address or a path. */
export function sqlFailure(thrown: unknown, context: FailureContext): unknown {
  if (thrown instanceof CodedError) return toAppError(thrown);
  if (!(thrown instanceof ConnectFailure)) return thrown;
  const { engine } = context;
  const failed = (
    code: 'engine_unreachable' | 'engine_timeout' | 'engine_crashed',
    what: string,
    hint?: string,
  ): AppError =>
    new AppError(code, `engine ${engine} ${what}`, {
      cause: thrown,
      hint,
      retryAfterSeconds: code === 'engine_unreachable' ? retryAfterSeconds : undefined,
    });
  if (isSessionLost(thrown)) {
    return failed(
      'engine_unreachable',
      'was restarted, or has ended the session, while the query ran',
      'run the query again',
    );
  }
  // Sail has no class of its own for it: its process has ended, or the part of it that ran the query.
  if (thrown.is('INVALID_HANDLE') || thrown.is('INVALID_CURSOR') || /\boperation not found: /.test(thrown.message)) {
    return failed('engine_unreachable', 'has lost the query', 'run the query again');
  }
  switch (thrown.status) {
    case 'UNAVAILABLE':
      return failed('engine_unreachable', unreachableReason(thrown), 'is it running, and is its URL right?');
    case 'UNAUTHENTICATED':
    case 'PERMISSION_DENIED':
      return failed('engine_unreachable', 'does not accept our token', 'the operator sets it in the URL: ;token=…');
    case 'UNIMPLEMENTED':
      return failed('engine_unreachable', 'does not know this call: is it a Spark Connect server?');
    case 'DATA_LOSS':
      return failed('engine_unreachable', 'gave an answer that cannot be read');
    case 'DEADLINE_EXCEEDED':
      return failed('engine_timeout', 'did not answer in time');
    default:
      return statementFailure(thrown, context);
  }
}

const connectReasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'cannot be reached: nothing listens there',
  ENOTFOUND: 'cannot be reached: there is no such host',
  EAI_AGAIN: 'cannot be reached: the host name cannot be looked up now',
  EHOSTUNREACH: 'cannot be reached: there is no way to the host',
  ENETUNREACH: 'cannot be reached: there is no way to the network',
  ETIMEDOUT: 'cannot be reached: no answer in time',
};

function unreachableReason({ cause, message }: ConnectFailure): string {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  const known = connectReasons[code];
  if (known !== undefined) return known;
  if (/CERT|ALTNAME|SELF_SIGNED|ISSUER/.test(code)) return 'has a certificate that is not trusted';
  if (/SSL|TLS|EPROTO/.test(code)) return 'does not speak TLS as asked for';
  if (message.startsWith('no connection')) return 'cannot be reached';
  return 'was lost while the query ran';
}

function statementFailure(
  failure: ConnectFailure,
  { engine, pathMap, query, frames, sourcePosition }: FailureContext,
): AppError {
  const { message: raw, facts } = failure;
  if (/stopped SparkContext|SparkContext (?:was|has been) shut ?down/i.test(raw)) {
    return new AppError('engine_unreachable', `engine ${engine} is shutting down`, {
      hint: 'run the query again when it is back',
      cause: failure,
      retryAfterSeconds,
    });
  }
  if (isMissingFile(failure)) {
    const missing = frames.find(({ parts }) => parts.some(({ path }) => raw.includes(basename(path))));
    return missingFiles(engine, missing && handleOf(missing), failure);
  }
  if (/\bTimestamp\(Nanosecond\b/.test(raw)) return nanosecondTimestamps(engine, frames, failure);
  if (/bigger than spark\.driver\.maxResultSize/.test(raw)) return resultTooLarge(engine, 'its driver takes', failure);
  if (/OutOfMemoryError|UNABLE_TO_ACQUIRE_MEMORY|Resources exhausted|memory (?:limit|exhausted)/i.test(raw)) {
    return new AppError('sql_out_of_memory', `the query needs more memory than engine ${engine} has`, {
      hint: 'ask for less at once, or let the operator give the engine more memory',
      cause: failure,
    });
  }
  if (failure.is('OPERATION_CANCELED')) {
    return new AppError('engine_crashed', `engine ${engine} stopped the query`, { cause: failure });
  }
  if (/ExecutorLostFailure|SparkContext|Connection refused/.test(raw) && facts.errorClass === undefined) {
    return new AppError('engine_crashed', `engine ${engine} lost the machines that ran the query`, { cause: failure });
  }
  const { text, position } = readMessage(raw, facts.errorClass, query.sql);
  const found = facts.position ?? position;
  const state = facts.sqlState ?? /SQLSTATE: (\w{5})/.exec(raw)?.[1];
  const shown = pathMap.scrub(state === undefined ? text : `${text} (SQLSTATE ${state})`);
  return new AppError('sql_error', shown, {
    cause: failure,
    position: found === undefined ? undefined : sourcePosition?.(found),
  });
}

function isMissingFile(failure: ConnectFailure): boolean {
  return failure.is('PATH_NOT_FOUND') || failure.is('FAILED_READ_FILE.FILE_NOT_EXIST');
}

/** The cluster does not see our files. */
export function missingFiles(engine: string, handle: string | undefined, cause?: unknown): AppError {
  const what = handle === undefined ? 'a frame of the query' : `frame ${handle}`;
  return new AppError('engine_unreachable', `engine ${engine} does not find the files of ${what}`, {
    hint: 'the operator checks path_map: it is the cold directory as the machines of the engine see it',
    cause,
  });
}

/** Sail says so without the column, which may be any of these. */
function nanosecondTimestamps(engine: string, frames: readonly FrameTable[], cause: ConnectFailure): AppError {
  const isNanoseconds = (type: DataType): boolean =>
    /\{(?=[^{}]*"kind":"timestamp")(?=[^{}]*"unit":"ns")/.test(JSON.stringify(type));
  const found = frames.flatMap((frame) =>
    frame.columns
      .filter(({ type }) => isNanoseconds(type))
      .map(({ name }) => `${JSON.stringify(name)} of frame ${handleOf(frame)}`),
  );
  const columns = found.length === 1 ? `column ${found[0]} holds` : `columns ${found.slice(0, 5).join(', ')} hold`;
  const what = found.length === 0 ? 'the query computes' : columns;
  return new AppError('unsupported_type', `${what} timestamps of nanoseconds, which engine ${engine} cannot send`, {
    hint: 'leave them out, CAST them AS TIMESTAMP_NTZ (microseconds) or AS STRING, or run the query on the local engine',
    cause,
  });
}

/** The cluster's files are not at our path. */
export function filesElsewhere(engine: string): AppError {
  return new AppError('engine_unreachable', `engine ${engine} wrote the rows where this server does not see them`, {
    hint: 'the operator checks path_map: it is the cold directory as the machines of the engine see it',
  });
}

export function resultTooLarge(engine: string, limit: string, cause?: unknown): AppError {
  return new AppError('too_large', `the result is larger than ${limit} of engine ${engine}`, {
    hint: 'keep it as a frame (CREATE TABLE name AS SELECT …) and read that, or ask for fewer rows',
    cause,
  });
}

/** The sentence that names the fault, and its place. The rest (the text once more, plans, traces) is left out. */
function readMessage(
  raw: string,
  errorClass: string | undefined,
  sql: string,
): { text: string; position: number | undefined } {
  const start = errorClass === undefined ? -1 : raw.indexOf(`[${errorClass}]`);
  const from = start >= 0 ? start : Math.max(0, raw.search(/\[[A-Z][A-Z0-9_]+(?:\.[A-Z0-9_]+)*\] /));
  const body = raw.slice(from).trimStart();
  const text = body
    .split(/\n\n?== |\n\s+at |;\s*\n|\n'|\n\+-|\nJVM stack|\n\s*Driver stack|\n\s*$/, 1)[0]
    ?.replace(/^invalid argument: (found .{1,200}?)(?: at \d+:\d+)? (?=expected)/s, 'syntax error: $1, ')
    .replaceAll(/\s*SQLSTATE: \w{5}/g, '')
    .replaceAll(/[;,]?\s*\(?line \d+,? pos(?:ition)? \d+\)?[;.]?/g, '')
    .replace(/ If necessary set "spark\.[^"]*" to "[^"]*" to bypass this error\./, '')
    .replaceAll(/ObjectName\(\[Identifier\(("[^"]*")\)\]\)/g, '$1')
    .replaceAll(/\s+/g, ' ')
    .trim()
    .slice(0, 2000);
  return {
    text: text === undefined || text === '' ? 'the engine refused the statement' : text,
    position: positionIn(raw, sql),
  };
}

function positionIn(raw: string, sql: string): number | undefined {
  // Sail: from which character to which.
  const spanned = /\bfound .{1,200}? at (\d+):\d+ expected/s.exec(raw);
  if (spanned !== null) return Number(spanned[1]);
  if (raw.includes('found end of input expected')) return sql.length;
  const counted = /\bline (\d+),? pos (\d+)/.exec(raw);
  if (counted !== null) return offsetOf(sql, Number(counted[1]), Number(counted[2]));
  const shown = /== SQL \(line (\d+), position (\d+)\) ==/.exec(raw);
  return shown === null ? undefined : offsetOf(sql, Number(shown[1]), Number(shown[2]) - 1);
}

/** `line` from 1, `column` from 0. */
function offsetOf(sql: string, line: number, column: number): number | undefined {
  let at = 0;
  for (let passed = 1; passed < line; passed++) {
    const end = sql.indexOf('\n', at);
    if (end < 0) return undefined;
    at = end + 1;
  }
  return at + column <= sql.length ? at + column : undefined;
}
