import { AppError } from '../../../core/errors/app-error.ts';
import { tsdbEngineName } from '../../../core/names/engine-names.ts';
import { type FrameName, parseFrameName } from '../../../core/names/frame-name.ts';
import { fileFormats } from '../../../core/rows/file-format.ts';
import type { TsdbRequest } from '../../../core/sql/tsdb.ts';
import { parseColumnList } from '../../exchange/column-list.ts';
import { type RequestedEngine, requestedEngine } from '../../exchange/requested-engine.ts';
import { parseRowLimit, type RowRange } from '../../exchange/row-limit.ts';

export interface ReadHandle {
  readonly mode: 'handle';
  readonly handle: FrameName;
  readonly range: RowRange;
  readonly limitText: string | undefined;
  readonly quoteLargeNum: boolean;
  readonly quoteNonFinite: boolean;
  /** The id of the version, or of the lineage, that the rows must be of. Undefined: any. */
  readonly version: string | undefined;
}

export interface ForwardSql {
  readonly mode: 'proxy';
  readonly door: TsdbRequest['door'];
  readonly query: string;
  readonly parameters: TsdbRequest['parameters'];
}

/** SQL over the frames. */
export interface QueryFrames extends RequestedEngine {
  readonly mode: 'sql';
  readonly query: string;
  readonly range: RowRange;
  readonly quoteLargeNum: boolean;
  readonly quoteNonFinite: boolean;
  /** `count` is to be that of the whole result. */
  readonly count: boolean;
  /** False: only the rows and their count. */
  readonly metadata: boolean;
  readonly timings: boolean;
  readonly explain: boolean;
  readonly columns: readonly string[] | undefined;
}

export type ExecCommand = ReadHandle | ForwardSql | QueryFrames;

export interface ExecDefaults {
  /** The format of a request without `fmt`; undefined = `fmt` is required. */
  readonly defaultFmt: 'json' | undefined;
  readonly maxLimit: number | undefined;
  /** Engine of a `query` without `engine`. */
  readonly defaultEngine: string;
}

/** QuestDB's own parameters, which are forwarded; nothing else of a client's request reaches it. */
const forwardedParameters = new Set(
  'query fmt limit count nm timings explain quoteLargeNum cols version src'.split(' '),
);

export function parseExec(parameters: ReadonlyMap<string, string>, defaults: ExecDefaults): ExecCommand {
  const handle = parameters.get('handle');
  const query = parameters.get('query');
  assertOneMode(handle, query);
  checkFormat(parameters.get('fmt'), defaults.defaultFmt);
  if (handle !== undefined) {
    const limitText = parameters.get('limit');
    return {
      mode: 'handle',
      handle: parseFrameName(handle),
      range: parseRowLimit(limitText, defaults.maxLimit),
      limitText,
      quoteLargeNum: isTrue(parameters, 'quoteLargeNum'),
      quoteNonFinite: isTrue(parameters, 'quoteNonFinite'),
      version: parseVersion(parameters.get('version')),
    };
  }
  const wanted = requestedEngine(parameters.get('engine'), defaults);
  if (wanted.engine !== tsdbEngineName) return { ...wanted, ...parseQuery(query ?? '', parameters, defaults) };
  const forwarded = [...parameters].filter(([name]) => forwardedParameters.has(name));
  if (!parameters.has('fmt')) forwarded.push(['fmt', 'json']);
  return { mode: 'proxy', door: 'exec', query: query ?? '', parameters: forwarded };
}

/** A request names a frame or brings a statement. */
export function assertOneMode(handle: string | undefined, query: string | undefined): void {
  const hint = 'give handle=<handle> to read a frame, or query=<sql> to ask a database';
  if (handle !== undefined && query !== undefined) {
    throw new AppError('ambiguous_mode', 'both handle and query are given', { hint });
  }
  if (handle === undefined && query === undefined) {
    throw new AppError('missing_parameter', 'neither handle nor query is given', { hint });
  }
}

function parseQuery(
  query: string,
  parameters: ReadonlyMap<string, string>,
  { maxLimit }: ExecDefaults,
): Omit<QueryFrames, keyof RequestedEngine> {
  const limitText = parameters.get('limit');
  const cols = parameters.get('cols');
  return {
    mode: 'sql',
    query,
    range: limitText === undefined ? { from: 0, to: Infinity } : parseRowLimit(limitText, maxLimit),
    quoteLargeNum: isTrue(parameters, 'quoteLargeNum') || parameters.get('src') === 'con',
    quoteNonFinite: isTrue(parameters, 'quoteNonFinite'),
    count: isTrue(parameters, 'count'),
    metadata: !isTrue(parameters, 'nm'),
    timings: isTrue(parameters, 'timings'),
    explain: isTrue(parameters, 'explain'),
    columns: cols === undefined ? undefined : parseColumnList(cols),
  };
}

/** A bare number is the version of QuestDB's protocol. */
function parseVersion(version: string | undefined): string | undefined {
  return version === undefined || /^\d{1,9}$/.test(version) ? undefined : version;
}

function isTrue(parameters: ReadonlyMap<string, string>, name: string): boolean {
  return parameters.get(name)?.toLowerCase() === 'true';
}

/** The `query` field of an error: the statement or frame of the request, if it can be read. */
export function askedFor(parameters: ReadonlyMap<string, string>): string | undefined {
  const query = parameters.get('query');
  if (query !== undefined) return query;
  const handle = parameters.get('handle');
  return handle === undefined ? undefined : `handle:${handle}`;
}

function checkFormat(fmt: string | undefined, defaultFmt: 'json' | undefined): void {
  const format = fmt ?? defaultFmt;
  if (format === undefined) {
    throw new AppError('missing_parameter', 'fmt is not given', { hint: 'add fmt=json' });
  }
  if (format !== 'json') {
    const file = fileFormats.find((each) => each === format.toLowerCase());
    throw new AppError('unsupported_format', `fmt ${JSON.stringify(format.slice(0, 100))} is not supported by /exec`, {
      hint: file === undefined ? 'use fmt=json' : `use fmt=json, or /exp in place of /exec: it gives ${file}`,
    });
  }
}

/** The operator's settings for answers of /exec. */
export interface ExecSettings {
  /** Rows that one answer may have; undefined = any number. */
  readonly maxLimit: number | undefined;
  readonly requestTimeoutMs: number;
  readonly compression: boolean;
}
