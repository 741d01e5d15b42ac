import { ConnectionError, FrameholdError } from './errors.ts';
import type { Http, Stoppable } from './http.ts';
import { columnList } from './names.ts';
import { Result } from './result.ts';
import { backoffMs, sleep } from './retry.ts';
import type { Column } from './rows/cells.ts';
import { HttpAnswer, onePiece } from './transport.ts';

export interface FollowOptions extends Stoppable {
  /** The number of the first row, counted from 0, or `end`: rows that come from now on. Default: 0. */
  readonly start?: number | 'end' | undefined;
  /** That of an earlier follower, whose `start` this one continues: rows that were replaced since are refused. */
  readonly lineage?: string | undefined;
  /** Which columns, in this order. Default: all. */
  readonly columns?: readonly string[] | undefined;
  /** Only rows for which it holds: a predicate of SQL over the columns, such as `price > 10`. */
  readonly where?: string | undefined;
  /** Hears that the connection was lost, and at which row it goes on when it can. */
  readonly onRetry?: ((error: FrameholdError, next: number) => void) | undefined;
}

/** The place of a follower: `start` and `lineage` for one that continues there. */
export interface Place {
  /** The number of the row behind these. */
  readonly next: number;
  /** Stays while the frame only grows. */
  readonly lineage: string;
}

export interface FollowedRows<Row> extends Place {
  /** Empty where there are no rows. */
  readonly columns: readonly Column[];
  readonly rows: readonly Row[];
}

export interface FollowedBytes extends Place {
  readonly bytes: Uint8Array;
}

const waitMs = 30_000;

/** Bytes of an answer while there is much to catch up with, and the growth from one answer to the next. */
const answerBytes = 4 * 1024 * 1024;
const answerGrowth = 8;
const mostRows = 1_000_000;

/** The rows of a frame from a number on, and new ones. It ends only with the frame, or by its signal. */
export class Follower<Row> implements AsyncIterable<Row> {
  readonly #http: Http;
  readonly #name: string;
  readonly #options: FollowOptions;

  constructor(http: Http, name: string, options: FollowOptions) {
    this.#http = http;
    this.#name = name;
    this.#options = options;
  }

  /** The rows of one answer, with the place behind them. The first may be without rows: it gives the frame's place. */
  async *batches(): AsyncGenerator<FollowedRows<Row>, void, undefined> {
    for await (const { bytes, ...place } of this.bytes('json')) {
      if (bytes.length === 0) yield { columns: [], rows: [], ...place };
      else {
        const answer = new HttpAnswer(200, new Headers(), onePiece(bytes));
        const result = await Result.open<Row>(answer, () => this.#http.unexpected());
        yield { columns: result.columns, rows: await result.rows(), ...place };
      }
    }
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Row, void, undefined> {
    for await (const { rows } of this.batches()) yield* rows;
  }

  /** The rows in a format, names of columns once where that has a line of them. */
  async *bytes(format: 'json' | 'ndjson' | 'csv' | 'tsv'): AsyncGenerator<FollowedBytes, void, undefined> {
    let place: { readonly next?: number; readonly lineage: string | undefined } = { lineage: this.#options.lineage };
    let hasNames = false;
    /** Undefined: the server's default. */
    let limit: number | undefined;
    const { timeoutMs = Number.POSITIVE_INFINITY } = this.#http;
    for (;;) {
      const { columns, where, start = 0 } = this.#options;
      const found = await this.#next(place, {
        from: place.next ?? start,
        live: 'long-poll',
        // The first answer gives the frame's place, and comes at once.
        wait: place.lineage === undefined ? '0s' : `${Math.min(waitMs, Math.floor(timeoutMs / 2))}ms`,
        fmt: format,
        lineage: place.lineage,
        columns: columns && columnList(columns),
        where,
        limit,
        nm: hasNames && format !== 'json' ? true : undefined,
      });
      const { isBehind, ...answer } = found;
      const rows = answer.next - Number(place.next ?? start);
      limit = isBehind && rows > 0 ? nextLimit(rows, answer.bytes.length) : undefined;
      hasNames ||= answer.bytes.length > 0;
      place = { next: answer.next, lineage: answer.lineage };
      yield answer;
    }
  }

  /** Tries again where the connection was lost, unless there never was one. */
  async #next(
    { next, lineage }: { readonly next?: number; readonly lineage: string | undefined },
    query: Readonly<Record<string, string | number | boolean | undefined>>,
  ): Promise<FollowedBytes & { readonly isBehind: boolean }> {
    const { signal, onRetry } = this.#options;
    const path = `/handles/${encodeURIComponent(this.#name)}/rows`;
    for (let attempt = 1; ; attempt += 1) {
      try {
        const answer = await this.#http.request('GET', path, { query, signal });
        const bytes = await answer.bytes();
        const { headers } = answer;
        const isBehind = headers.get('up-to-date') === 'false';
        return { bytes, next: Number(headers.get('next-row')), lineage: headers.get('lineage') ?? '', isBehind };
      } catch (error) {
        if (lineage === undefined || !isPassing(error)) throw error;
        if (attempt === 1) onRetry?.(error, next ?? 0);
        await sleep(backoffMs(attempt, error), signal);
      }
    }
  }
}

/** `rows`, with their bytes, are those of the last answer. */
function nextLimit(rows: number, bytes: number): number {
  const fitting = Math.floor((rows * answerBytes) / Math.max(bytes, 1));
  return Math.max(1, Math.min(fitting, rows * answerGrowth, mostRows));
}

/** Whether the same may work in a while. */
export function isPassing(error: unknown): error is FrameholdError {
  if (error instanceof ConnectionError) return error.code !== 'unexpected_answer';
  return error instanceof FrameholdError && (error.retryAfter !== undefined || error.code === 'overloaded');
}
