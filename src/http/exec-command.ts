import { AppError } from '../core/app-error.ts';
import { type Handle, parseHandle } from '../core/handle.ts';
import type { TsdbRequest } from '../core/tsdb.ts';
import { parseRowLimit, type RowRange } from './row-limit.ts';

export interface ReadHandle {
  readonly mode: 'handle';
  readonly handle: Handle;
  readonly range: RowRange;
  readonly limitText: string | undefined;
  readonly quoteLargeNum: boolean;
}

export interface ForwardSql {
  readonly mode: 'proxy';
  readonly query: string;
  readonly parameters: TsdbRequest['parameters'];
}

export type ExecCommand = ReadHandle | ForwardSql;

export interface ExecDefaults {
  /** What a request without `fmt` means; undefined = `fmt` is required. */
  readonly defaultFmt: 'json' | undefined;
  readonly maxLimit: number | undefined;
}

/** QuestDB's own parameters, which it may see; nothing else of a client's request reaches it. */
const forwardedParameters = new Set(
  'query fmt limit count nm timings explain quoteLargeNum cols version src'.split(' '),
);

export function parseExec(parameters: ReadonlyMap<string, string>, defaults: ExecDefaults): ExecCommand {
  const handle = parameters.get('handle');
  const query = parameters.get('query');
  if (handle !== undefined && query !== undefined) {
    throw new AppError('ambiguous_mode', 'both handle and query are given', {
      hint: 'give handle=<handle> to read a frame, or query=<sql> to ask the external database',
    });
  }
  if (handle === undefined && query === undefined) {
    throw new AppError('missing_parameter', 'neither handle nor query is given', {
      hint: 'give handle=<handle> to read a frame, or query=<sql> to ask the external database',
    });
  }
  checkFormat(parameters.get('fmt'), defaults.defaultFmt);
  if (handle !== undefined) {
    const limitText = parameters.get('limit');
    return {
      mode: 'handle',
      handle: parseHandle(handle),
      range: parseRowLimit(limitText, defaults.maxLimit),
      limitText,
      quoteLargeNum: parameters.get('quoteLargeNum')?.toLowerCase() === 'true',
    };
  }
  const forwarded = [...parameters].filter(([name]) => forwardedParameters.has(name));
  if (!parameters.has('fmt')) forwarded.push(['fmt', 'json']);
  return { mode: 'proxy', query: query ?? '', parameters: forwarded };
}

/** The `query` field of an error: what the request asked for, as far as it can be told. */
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
    throw new AppError('unsupported_format', `fmt ${JSON.stringify(format.slice(0, 100))} is not supported by /exec`, {
      hint: 'use fmt=json',
    });
  }
}
