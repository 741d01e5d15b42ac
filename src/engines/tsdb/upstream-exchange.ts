import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';
import type { AppError } from '../../core/errors/app-error.ts';
import type { TsdbResponse } from '../../core/sql/tsdb.ts';
import { UpstreamBody } from './upstream-body.ts';
import {
  classifyBrokenBody,
  classifyUpstreamFailure,
  isClosedConnection,
  notConnected,
  refusalOfAnswer,
  tooSlow,
} from './upstream-failure.ts';

export interface ExchangeOptions {
  readonly dispatcher: Dispatcher;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  /** Time for the answer to begin. */
  readonly timeoutMs: number;
  /** A connection stands and the request goes out on it. */
  readonly onWritten: () => void;
  /** The answer broke off after it had begun. */
  readonly onBrokenBody: (failure: AppError) => void;
  /** The connection is free again or gone. */
  readonly onDone: () => void;
}

/** One request to the external database and its answer. */
export class UpstreamExchange implements Dispatcher.DispatchHandler {
  readonly #options: ExchangeOptions;
  #written = false;
  #retried = false;
  #cut: Error | undefined;
  #controller: Dispatcher.DispatchController | undefined;
  #body: UpstreamBody | undefined;
  #timer: NodeJS.Timeout | undefined;
  #resolve: (response: TsdbResponse) => void = () => {};
  #reject: (error: unknown) => void = () => {};

  constructor(options: ExchangeOptions) {
    this.#options = options;
  }

  /** Whether a byte of the request may have left. */
  get written(): boolean {
    return this.#written;
  }

  /** Settles when the answer's headers have arrived. Rejects with an AppError, or with the signal's reason. */
  run(): Promise<TsdbResponse> {
    const { signal, timeoutMs } = this.#options;
    return new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
      this.#timer = setTimeout(() => this.#cutOff(this.#written ? tooSlow() : notConnected()), timeoutMs);
      signal.addEventListener('abort', this.#onAbort);
      this.#dispatch();
    });
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    // A statement goes out once: undici may start a request again, and it may be an INSERT.
    const refusal = this.#cut ?? (this.#written ? new Error('the request was already sent once') : undefined);
    if (refusal !== undefined) {
      controller.abort(refusal);
      return;
    }
    this.#written = true;
    this.#controller = controller;
    this.#options.onWritten();
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    if (status < 200) return;
    clearTimeout(this.#timer);
    const refusal = refusalOfAnswer(status, all(headers['transfer-encoding']));
    if (refusal !== undefined) {
      this.#cutOff(refusal);
      return;
    }
    this.#body = new UpstreamBody(controller);
    this.#resolve({
      status,
      contentType: first(headers['content-type']),
      contentEncoding: first(headers['content-encoding']),
      contentLength: first(headers['content-length']),
      contentDisposition: first(headers['content-disposition']),
      body: this.#body,
    });
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#body?.arrived(chunk);
  }

  onResponseEnd(): void {
    this.#done();
    this.#body?.completed();
  }

  onResponseError(_controller: Dispatcher.DispatchController | undefined, error: Error): void {
    if (this.#mayRetry(error)) {
      this.#retried = true;
      // Not from within undici's own handling of the failure.
      setImmediate(() => this.#dispatch());
      return;
    }
    this.#done();
    if (this.#body === undefined) {
      this.#reject(this.#cut ?? classifyUpstreamFailure(error, { written: this.#written }));
    } else if (!this.#body.destroyed) {
      const failure = classifyBrokenBody(error);
      this.#options.onBrokenBody(failure);
      this.#body.destroy(failure);
    }
  }

  #dispatch(): void {
    const { dispatcher, path, headers } = this.#options;
    dispatcher.dispatch({ method: 'GET', path, headers, idempotent: false }, this);
  }

  /**
   * A connection kept open that the database has meanwhile reset fails the request waiting for it. No byte of the request was
   * sent then, which undici shows by not having started it, so another connection may be tried.
   */
  #mayRetry(error: Error): boolean {
    return !this.#written && !this.#retried && this.#cut === undefined && isClosedConnection(error);
  }

  readonly #onAbort = (): void => {
    const { reason } = this.#options.signal;
    this.#cutOff(reason instanceof Error ? reason : new Error('the request was aborted', { cause: reason }));
  };

  /** Ends it from our side. While a connection is still being made, undici reports its end later. */
  #cutOff(error: Error): void {
    this.#cut = error;
    if (this.#body === undefined) {
      this.#reject(error);
      this.#controller?.abort(error);
    } else {
      this.#body.destroy(error);
    }
  }

  #done(): void {
    clearTimeout(this.#timer);
    this.#options.signal.removeEventListener('abort', this.#onAbort);
    this.#options.onDone();
  }
}

function all(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value.join(', ') : value;
}

function first(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value;
}
