import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { sharedTurn } from '@framehold/async';
import type { FairShares } from '../../core/async/fair-shares.ts';
import type { Share } from '../../core/async/share.ts';
import type { AuditRecord } from '../../core/callers/audit.ts';
import { type Caller, laneOf, type Principal } from '../../core/callers/principal.ts';
import { AppError, type ErrorCode } from '../../core/errors/app-error.ts';
import type { Logger } from '../../core/logs/logger.ts';
import type { Span } from '../../core/logs/span.ts';
import type { EngineChoice } from '../../query/frame-sql.ts';
import type { EventLoopWatch } from '../../telemetry/event-loop-watch.ts';
import { parseTraceparent } from '../../telemetry/tracing/trace-context.ts';
import { clientCertificate } from '../../tls/client-certificate.ts';
import type { ContentCoding } from './content-coding.ts';
import { holdBody } from './held-body.ts';
import { type BodyLimits, readBody, uncountedBytes } from './request-body.ts';
import { ClientGone, writePieces } from './response-writer.ts';

export interface ExchangeParts {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly target: string;
  readonly segments: readonly string[];
  /** The path of its route. Undefined where there is none. */
  readonly route: string | undefined;
  readonly requestId: string;
  readonly logger: Logger;
  /** For bodies that are held whole, and rows of answers. */
  readonly memory: FairShares;
  /** Notified that work for the request goes on. */
  readonly eventLoop: EventLoopWatch | undefined;
  /** Whether the connection ends with it, called when its answer begins. */
  readonly isLast: () => boolean;
  /** Whether callers are identified, so that no cache may give the answer to another one. */
  readonly isPrivate: boolean;
}

/** Longest text of a request in the audit, in characters. */
const longestObject = 200;
/** For a request that is to end, until its connection is cut. */
const abortGraceMs = 1000;

/** One request and its response. Routes see this, never Node's own objects. */
export class Exchange {
  readonly method: string;
  readonly requestHeaders: IncomingHttpHeaders;
  /** The unchanged request target: path and query. */
  readonly target: string;
  /** The value of each `{name}` of the route's path, in order, decoded. */
  readonly segments: readonly string[];
  /** The path of its route. Undefined where there is none. */
  readonly route: string | undefined;
  readonly requestId: string;
  readonly logger: Logger;
  /**
   * Headers of any response: names and values in turn, as `writeHead` takes them. Objects of headers, or `setHeader` before it,
   * cost a tenth of a hot read.
   */
  readonly headers: string[];
  /** The `query` field of an error response, if the request's body has one. */
  asked: string | undefined;
  /** The engine of its statement, once known. */
  engine: EngineChoice | undefined;
  /** Its answer is for this caller alone. */
  readonly #isPrivate: boolean;
  /** Its line of the audit, where it has one. */
  record: AuditRecord | undefined;
  /** Called instead of the answer to a change whose audit line cannot be written. */
  onUnrecorded: ((error: unknown) => void) | undefined;
  /** It does not count as a running request. */
  isUncounted = false;
  /** Its place as a running request. */
  place: Share | undefined;
  /** Ends it when other requests need its memory. */
  onRevoked: ((error: AppError) => void) | undefined;
  /** Its route reads a body, which may not have arrived. */
  awaitsBody = false;
  /** It was ended because others need its place. */
  isRevoked = false;
  /** Called when it no longer counts as a running request. */
  onUncount: (() => void) | undefined;
  /** The caller, if a ticket replaces credentials. */
  ticketHolder: Pick<Caller, 'headers' | 'certificate'> | undefined;
  /** The span of the request, if it is traced. */
  span: Span | undefined;
  /** Why it failed. */
  failure: ErrorCode | undefined;
  /** Its answer is sent, or its client gone. */
  hasEnded = false;
  /** It was let in, and its route called. */
  isRouted = false;
  /** When the answer began, on the clock of `performance.now`. */
  answeredMs: number | undefined;
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #isLast: () => boolean;
  readonly #memory: FairShares;
  #held: Share | undefined;
  #heldAnswer: Share | undefined;
  #bodyHasCome = false;
  readonly #eventLoop: EventLoopWatch | undefined;
  #controller: AbortController | undefined;
  #principal: Principal | undefined;
  /** The answer waits for the line of the audit. */
  #isHeld = false;

  constructor(parts: ExchangeParts) {
    const { request, response, target, segments, route, requestId, logger, memory, isLast, isPrivate } = parts;
    this.method = request.method ?? '';
    this.requestHeaders = request.headers;
    this.target = target;
    this.segments = segments;
    this.route = route;
    this.requestId = requestId;
    this.logger = logger;
    this.headers = ['x-request-id', requestId, 'x-content-type-options', 'nosniff'];
    if (isPrivate) this.headers.push('cache-control', 'private, no-cache');
    this.#isPrivate = isPrivate;
    this.#request = request;
    this.#response = response;
    this.#isLast = isLast;
    this.#memory = memory;
    this.#eventLoop = parts.eventLoop;
  }

  /** The caller. Identified before a route is called, unless the route is open to anybody. */
  get principal(): Principal {
    if (this.#principal === undefined) throw new AppError('internal', 'the caller is not identified');
    return this.#principal;
  }

  get isKnown(): boolean {
    return this.#principal !== undefined;
  }

  set principal(principal: Principal) {
    const { span, record } = this;
    const traced = span === undefined ? principal : { ...principal, span };
    this.#principal = record === undefined ? traced : record.identified(traced);
  }

  /** By which its caller, and the collector of traces, know it. */
  get traceId(): string | undefined {
    return this.span?.traceId ?? parseTraceparent(this.requestHeaders.traceparent)?.traceId;
  }

  /** The facts about the caller before it is identified. */
  get caller(): Caller {
    const { rawHeaders, socket } = this.#request;
    const address = socket.remoteAddress ?? '';
    if (this.ticketHolder !== undefined) return { ...this.ticketHolder, address };
    const certificate = clientCertificate(socket);
    return { headers: this.requestHeaders, rawHeaders, address, certificate };
  }

  /** In which turn it is served where it must wait. */
  get lane(): string {
    const { remoteAddress = '', remotePort } = this.#request.socket;
    return laneOf(this.principal, remoteAddress, String(remotePort));
  }

  /** The status line is sent: it is too late for an error response. */
  get hasBegun(): boolean {
    return this.#response.headersSent || this.#isHeld;
  }

  /** Cache headers of the answer: `no-cache` for one with an ETag. A private answer has them already. */
  cacheControl(policy: 'no-cache' | 'no-store'): string[] {
    return this.#isPrivate ? [] : ['cache-control', policy];
  }

  /** The answer has a secret in it. */
  forbidStoring(): void {
    const at = this.headers.indexOf('cache-control');
    if (at >= 0) this.headers[at + 1] += ', no-store';
  }

  /** The answer is the same for everybody, and for ever. */
  declareImmutable(): void {
    const policy = 'public, max-age=31536000, immutable';
    const at = this.headers.indexOf('cache-control');
    if (at >= 0) this.headers[at + 1] = policy;
    else this.headers.push('cache-control', policy);
  }

  /** Names the object of the request for the audit, if the path does not. */
  concerns(object: string): void {
    if (this.record !== undefined) this.record.notes.object = object.slice(0, longestObject);
  }

  get status(): number {
    return this.#response.statusCode;
  }

  /** The outcome, for the audit. */
  get outcome(): ErrorCode | 'ok' | 'client_gone' | 'upstream_error' {
    if (this.failure !== undefined) return this.failure;
    if (!this.#response.writableFinished) return 'client_gone';
    return this.status < 400 ? 'ok' : 'upstream_error';
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

  /** The request's body as it arrives, still in its Content-Encoding. */
  body(limits: BodyLimits): AsyncGenerator<Buffer, void, undefined> {
    return readBody(this.#request, this.#response, limits, {
      onProgress: () => {
        this.#eventLoop?.goesOn(this);
        this.place?.progress();
        this.#held?.progress();
      },
      turn: () => sharedTurn(() => this.lane),
      onEnd: () => {
        this.#bodyHasCome = true;
        this.place?.settle();
        this.#held?.settle();
      },
    });
  }

  /** Takes bytes of the memory that tenants share, for its body. They are given back when the request has ended. */
  async takeMemory(bytes: number): Promise<void> {
    // Its end is over, and would give nothing back.
    if (this.hasEnded) throw new ClientGone('the client left before its body was read');
    if (this.#held === undefined) {
      const held = this.#memory.open({ lane: this.lane, revoke: (error) => this.onRevoked?.(error) });
      this.#response.once('close', () => held[Symbol.dispose]());
      if (this.#bodyHasCome) held.settle();
      this.#held = held;
    }
    if (!this.#held.tryTake(bytes)) await this.#held.take(bytes, { signal: this.signal });
  }

  /** All of a body, or of a part of it, in memory that tenants share. */
  hold(body: AsyncGenerator<Buffer, void, undefined>): Promise<Buffer> {
    return holdBody(body, {
      takeMemory: (bytes) => this.takeMemory(bytes),
      signal: () => this.signal,
      lane: () => this.lane,
    });
  }

  /**
   * Takes memory that tenants share for its answer, up to so many bytes in all, until the client has it. Where others need the
   * memory, an answer that the client does not take is cut off.
   */
  async holdAnswer(bytes: number): Promise<void> {
    if (bytes <= uncountedBytes) return;
    if (this.hasEnded) throw new ClientGone('the client left before its answer began');
    if (this.#heldAnswer === undefined) {
      const revoke = (error: AppError): void => (this.hasBegun ? this.destroy() : this.endNow(error));
      const held = this.#memory.open({ lane: this.lane, revoke });
      this.#response.once('close', () => held[Symbol.dispose]());
      this.#heldAnswer = held;
    }
    const held = this.#heldAnswer;
    const more = bytes - held.units;
    // A worker waits with it: a tenant with more than its share is refused at once.
    if (more > 0 && !held.tryTake(more)) await held.take(more, { signal: this.signal, onlyBelowShare: true });
  }

  /** From now on it waits and does nothing for its client: it no longer counts as a running request. */
  uncount(): void {
    this.onUncount?.();
    this.onUncount = undefined;
  }

  /** Sends a whole response; only its head for HEAD. Where it acknowledges a change, its line of the audit is written before. */
  send(status: number, body?: Uint8Array | string): void {
    const line = status < 400 ? this.record?.acknowledge() : undefined;
    if (line === undefined) {
      this.#sendNow(status, body);
      return;
    }
    this.#isHeld = true;
    line.then(
      () => {
        if (!this.isClosed) this.#sendNow(status, body);
      },
      (error: unknown) => {
        this.#isHeld = false;
        this.#dropBodyHeaders();
        this.onUnrecorded?.(error);
      },
    );
  }

  #sendNow(status: number, body: Uint8Array | string | undefined): void {
    const sent = this.method === 'HEAD' ? undefined : body;
    if (this.record !== undefined && sent !== undefined) this.#noteBytes(Buffer.byteLength(sent));
    this.#begin(status);
    this.#response.end(sent);
  }

  /** Sends pieces as the client takes them, compressed on the way if a coding is given. */
  async sendPieces(status: number, pieces: AsyncIterable<Uint8Array>, coding?: ContentCoding): Promise<void> {
    try {
      if (status < 400) await this.record?.acknowledge();
    } catch (error) {
      this.#dropBodyHeaders();
      throw error;
    }
    this.#begin(status);
    await writePieces(this.#response, pieces, coding && { coding, lane: this.lane }, (bytes) => {
      this.#eventLoop?.goesOn(this);
      this.#heldAnswer?.progress();
      this.#noteBytes(bytes);
      return this.isKnown ? sharedTurn(() => this.lane) : undefined;
    });
    this.#response.end();
  }

  #begin(status: number): void {
    this.answeredMs = performance.now();
    this.#eventLoop?.goesOn(this, this.answeredMs);
    if (this.#isLast()) this.#response.shouldKeepAlive = false;
    this.#response.writeHead(status, this.headers);
  }

  /** For a change, the notes have the stored bytes. */
  #noteBytes(bytes: number): void {
    const notes = this.record?.notes;
    if (notes?.changes === 0) notes.addBytes(bytes);
  }

  /** Another answer replaces the one with these headers. */
  #dropBodyHeaders(): void {
    const { headers } = this;
    for (let at = headers.length - 2; at >= 0; at -= 2) {
      const name = headers[at] ?? '';
      if (/^(content-|etag$)/.test(name) || (name === 'cache-control' && !this.#isPrivate)) headers.splice(at, 2);
    }
  }

  /** Aborts `signal`. */
  abort(reason: AppError): void {
    this.#abort().abort(reason);
  }

  /** Aborts `signal`, which gives an error response if none has begun; an answer that goes on nonetheless is cut off. */
  endNow(error: AppError): void {
    this.#abort().abort(error);
    this.#after(abortGraceMs, () => this.destroy());
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
