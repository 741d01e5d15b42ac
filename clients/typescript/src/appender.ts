/// <reference lib="esnext.disposable" preserve="true" />
import { ConnectionError, type FrameholdError } from './errors.ts';
import { isPassing } from './follow.ts';
import type { Http, Stoppable } from './http.ts';
import { backoffMs, sleep } from './retry.ts';
import { type RowObject, rowLine } from './upload.ts';

export interface AppendOptions extends Stoppable {
  /** Time to live of a frame that is made: seconds, or a text such as `15m`. */
  readonly ttl?: number | string | undefined;
  /** By which the server knows rows that are sent again. Default: a random one. */
  readonly producer?: string | undefined;
  /** A producer that begins anew takes a higher one. Default: the time. */
  readonly epoch?: number | undefined;
  /** How long rows are sent again while the server cannot be reached, in milliseconds. Default: 30,000. */
  readonly retryMs?: number | undefined;
}

/** Rows that are on the disk of the server, and that every reader finds. */
export interface Ack {
  /** The number of the append among those of its producer, from 0. Writes that were sent together have the same. */
  readonly seq: number;
  /** Those of the write. */
  readonly rows: number;
  /** Of the frame, with these rows. */
  readonly version: number;
  /** The server had the rows already, from an attempt whose answer was lost. */
  readonly repeated: boolean;
}

interface Write {
  readonly text: string;
  readonly rows: number;
  resolve(ack: Ack): void;
  reject(error: unknown): void;
}

/** The server takes this much without a file. */
const mostCharacters = 200_000;
const defaultRetryMs = 30_000;

/**
 * Adds rows to one frame, each once, also over a connection that breaks. A write is kept whole or not at all, behind those before
 * it; writes that come while another is under way are sent together.
 */
export class Appender<Row = RowObject> implements AsyncDisposable {
  readonly #http: Http;
  readonly #query: Readonly<Record<string, string | number | boolean | undefined>>;
  readonly #producer: string;
  readonly #epoch: number;
  readonly #retryMs: number;
  readonly #signal: AbortSignal | undefined;
  #seq = 0;
  #waiting: Write[] = [];
  #sending: Promise<void> | undefined;
  #isClosed = false;
  /** It is unknown whether the server has the rows of the next number. */
  #lost: unknown;

  constructor(
    http: Http,
    name: string,
    { ttl, producer, epoch = Date.now(), retryMs = defaultRetryMs, signal }: AppendOptions = {},
  ) {
    this.#http = http;
    this.#query = { name, append: true, ttl, format: 'ndjson', fmt: 'json' };
    this.#producer = producer ?? randomId();
    this.#epoch = epoch;
    this.#retryMs = retryMs;
    this.#signal = signal;
  }

  /** Appends rows, or one. Resolves when they are durable. */
  write(rows: Row | readonly Row[]): Promise<Ack> {
    if (this.#isClosed) return Promise.reject(new TypeError('this appender is closed'));
    if (this.#lost !== undefined) return Promise.reject(this.#lost);
    const all = (Array.isArray(rows) ? rows : [rows]) as readonly RowObject[];
    if (all.length === 0) return Promise.reject(new TypeError('there are no rows to append'));
    return new Promise((resolve, reject) => {
      this.#waiting.push({ text: all.map(rowLine).join(''), rows: all.length, resolve, reject });
      this.#sending ??= this.#sendAll();
    });
  }

  /** Resolves when all writes are acknowledged. Rejects where one was not, with its error. */
  async flush(): Promise<void> {
    await this.#sending;
    if (this.#lost !== undefined) throw this.#lost;
  }

  /** The same, and takes no more. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.flush();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #sendAll(): Promise<void> {
    // Writes of the same turn go together.
    await Promise.resolve();
    while (this.#waiting.length > 0) await this.#sendTogether(this.#take());
    this.#sending = undefined;
  }

  /** As many as make a small request, and at least one. */
  #take(): Write[] {
    let characters = 0;
    const end = this.#waiting.findIndex(({ text }, at) => {
      characters += text.length;
      return at > 0 && characters > mostCharacters;
    });
    return this.#waiting.splice(0, end < 0 ? this.#waiting.length : end);
  }

  async #sendTogether(writes: readonly Write[]): Promise<void> {
    try {
      const { version, repeated } = await this.#deliver(writes.map(({ text }) => text).join(''));
      const seq = this.#seq++;
      for (const { rows, resolve } of writes) resolve({ seq, rows, version, repeated });
    } catch (error) {
      // Nothing of them was kept, and one may have spoilt it for the others.
      if (this.#lost === undefined && writes.length > 1) for (const write of writes) await this.#sendTogether([write]);
      else for (const { reject } of writes) reject(error);
    }
  }

  async #deliver(body: string): Promise<{ readonly version: number; readonly repeated: boolean }> {
    if (this.#lost !== undefined) throw this.#lost;
    const until = Date.now() + this.#retryMs;
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#ask(body);
      } catch (error) {
        const waitMs = backoffMs(attempt, error);
        if (!isPassing(error) || this.#signal?.aborted === true || Date.now() + waitMs > until)
          throw this.#failed(error);
        await sleep(waitMs, this.#signal).catch((reason: unknown) => {
          throw this.#failed(reason);
        });
      }
    }
  }

  async #ask(body: string): Promise<{ readonly version: number; readonly repeated: boolean }> {
    const answer = await this.#http.request('POST', '/imp', {
      query: this.#query,
      headers: {
        'content-type': 'application/x-ndjson',
        'producer-id': this.#producer,
        'producer-epoch': String(this.#epoch),
        'producer-seq': String(this.#seq),
      },
      body,
      signal: this.#signal,
    });
    const told = (await this.#http.json(answer)) as { readonly version: number; readonly repeated?: boolean };
    return { version: told.version, repeated: told.repeated === true };
  }

  /** Where the server has refused, the number is free. */
  #failed(error: unknown): unknown {
    const isRefused = (error as FrameholdError).status !== undefined && !(error instanceof ConnectionError);
    if (!isRefused) this.#lost = error;
    return error;
  }
}

/** Not `crypto.randomUUID`, which is missing on plain HTTP under a name. */
function randomId(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
