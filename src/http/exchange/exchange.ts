import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { AppError } from '../../core/app-error.ts';
import type { Logger } from '../../core/logger.ts';
import type { Caller, Principal } from '../../core/principal.ts';
import type { EngineChoice } from '../../query/frame-sql.ts';
import type { ContentCoding } from './content-coding.ts';
import { type BodyLimits, readBody } from './request-body.ts';
import { ClientGone, writePieces } from './response-writer.ts';

export interface ExchangeParts {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly target: string;
  readonly segments: readonly string[];
  readonly requestId: string;
  readonly logger: Logger;
}

/** One request and its response. Routes see this, never Node's own objects. */
export class Exchange {
  readonly method: string;
  readonly requestHeaders: IncomingHttpHeaders;
  /** The request target as it came: path and query. */
  readonly target: string;
  /** The value of each `{name}` of the route's path, in order, decoded. */
  readonly segments: readonly string[];
  readonly requestId: string;
  readonly logger: Logger;
  /**
   * Headers of the response, whatever it is: names and values in turn, as `writeHead` takes them. Objects of headers, or
   * `setHeader` before it, cost a tenth of a hot read.
   */
  readonly headers: string[];
  /** The `query` field of an error response, where the body of the request has it. */
  asked: string | undefined;
  /** Where its statement runs, once that is known. */
  engine: EngineChoice | undefined;
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  #controller: AbortController | undefined;
  #principal: Principal | undefined;

  constructor({ request, response, target, segments, requestId, logger }: ExchangeParts) {
    this.method = request.method ?? '';
    this.requestHeaders = request.headers;
    this.target = target;
    this.segments = segments;
    this.requestId = requestId;
    this.logger = logger;
    this.headers = ['x-request-id', requestId];
    this.#request = request;
    this.#response = response;
  }

  /** Who asks. Known before a route is called, unless it is open to anybody. */
  get principal(): Principal {
    if (this.#principal === undefined) throw new AppError('internal', 'the caller is not identified');
    return this.#principal;
  }

  get isKnown(): boolean {
    return this.#principal !== undefined;
  }

  set principal(principal: Principal) {
    this.#principal = principal;
  }

  /** What is known of the caller before it is identified. */
  get caller(): Caller {
    return { headers: this.requestHeaders, address: this.#request.socket.remoteAddress ?? '' };
  }

  /** Clients take turns by their address, and among the requests of one client by its connections. */
  get lane(): string {
    const { remoteAddress, remotePort } = this.#request.socket;
    return `${remoteAddress}#${remotePort}`;
  }

  /** The status line is sent: it is too late for an error response. */
  get hasBegun(): boolean {
    return this.#response.headersSent;
  }

  /** The client is gone: nothing that is sent arrives. */
  get isClosed(): boolean {
    return this.#response.destroyed;
  }

  /** Aborts when the client goes away before it has the whole response, and when a time limit ends. Made when first used. */
  get signal(): AbortSignal {
    return this.#abort().signal;
  }

  /** Aborts `signal` if the response has not begun within the time. The client then gets an error response, not a cut connection. */
  answerWithin(timeoutMs: number, late: () => AppError = () => noAnswerWithin(timeoutMs)): void {
    this.#after(timeoutMs, () => {
      if (!this.hasBegun) this.#abort().abort(late());
    });
  }

  /** Aborts `signal` where the response has not ended by then. */
  endWithin(timeoutMs: number, late: () => AppError): void {
    this.#after(timeoutMs, () => this.#abort().abort(late()));
  }

  /** The request's body as it comes, still in its Content-Encoding. */
  body(limits: BodyLimits): AsyncGenerator<Buffer, void, undefined> {
    return readBody(this.#request, this.#response, limits);
  }

  /** Sends a whole response; only its head for HEAD. */
  send(status: number, body?: Uint8Array | string): void {
    this.#response.writeHead(status, this.headers);
    this.#response.end(this.method === 'HEAD' ? undefined : body);
  }

  /** Sends pieces as the client takes them, compressed on the way if a coding is given. */
  async sendPieces(status: number, pieces: AsyncIterable<Uint8Array>, coding?: ContentCoding): Promise<void> {
    this.#response.writeHead(status, this.headers);
    await writePieces(this.#response, pieces, coding);
    this.#response.end();
  }

  /** Cuts the connection. */
  destroy(): void {
    this.#response.destroy();
  }

  #abort(): AbortController {
    if (this.#controller !== undefined) return this.#controller;
    const controller = new AbortController();
    this.#controller = controller;
    const response = this.#response;
    if (response.destroyed) controller.abort(new ClientGone('the client went away'));
    response.once('close', () => {
      if (!response.writableFinished) controller.abort(new ClientGone('the client went away'));
    });
    return controller;
  }

  #after(timeoutMs: number, task: () => void): void {
    const timer = setTimeout(task, timeoutMs);
    timer.unref();
    this.#response.once('close', () => clearTimeout(timer));
  }
}

function noAnswerWithin(timeoutMs: number): AppError {
  return new AppError('sql_timeout', `no answer within ${timeoutMs / 1000} s`, { hint: 'ask for less at once' });
}
