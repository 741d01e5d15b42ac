import type { IncomingHttpHeaders, OutgoingHttpHeaders, ServerHttp2Stream } from 'node:http2';
import { lightBytes, ownTurn, sharedTurn, type TimeoutList } from '@framehold/async';
import type { FairShares } from '../../core/async/fair-shares.ts';
import type { Share } from '../../core/async/share.ts';
import type { AuditRecord } from '../../core/callers/audit.ts';
import type { Principal } from '../../core/callers/principal.ts';
import { AppError, type ErrorCode, isFault, loggedError, toAppError } from '../../core/errors/app-error.ts';
import type { Logger } from '../../core/logs/logger.ts';
import type { Span } from '../../core/logs/span.ts';
import { parseTraceparent } from '../../telemetry/tracing/trace-context.ts';
import { GrpcError, type GrpcStatusName } from '../wire/grpc-status.ts';
import { errorTrailers, okTrailers, statusOf } from './error-status.ts';
import { parseGrpcTimeoutMs } from './grpc-timeout.ts';
import { LazyAbort } from './lazy-abort.ts';
import { writeMessage } from './message-writer.ts';
import { type Call, type Message, type Messages, type Method, piecesOf } from './method.ts';
import { onlyMessage, requestMessages } from './request.ts';
import { endResponse, noHeaders, startResponse } from './response.ts';
import type { StallTimeout } from './write-stall.ts';

export interface CallTimeouts {
  /** For a unary request to arrive whole. */
  readonly request: TimeoutList;
  readonly stall: StallTimeout;
}

export interface StartCallOptions {
  readonly timeouts: CallTimeouts;
  readonly method: Method;
  readonly path: string;
  readonly metadata: IncomingHttpHeaders;
  /** Undefined where the service is open to anybody. */
  readonly identify: (() => Principal | Promise<Principal>) | undefined;
  readonly onIdentified: (principal: Principal) => void;
  readonly admit: ((principal: Principal) => void) | undefined;
  /** Places for running calls. */
  readonly calls: FairShares | undefined;
  readonly requestId: string;
  /** Its line of the audit, where it has one. */
  readonly record: AuditRecord | undefined;
  /** The span of the call, if it is traced. */
  readonly span: Span | undefined;
  /** Without a principal: that of a caller who need not be known. */
  readonly laneOf: (principal: Principal | undefined) => string;
  readonly logger: Logger;
  /** Called when its stream is gone. */
  readonly onClosed: (ended: EndedCall) => void;
  /** Called as work for it goes on. */
  readonly goesOn: () => void;
}

/** The outcome of a call. */
export interface EndedCall {
  readonly status: GrpcStatusName;
  readonly hasFailed: boolean;
  /** The code of a failure that an operator should see to. */
  readonly fault: ErrorCode | undefined;
  /** It waited for something to happen. */
  readonly hasWaited: boolean;
  /** When the response began, on the clock of `performance.now`. Undefined where there was none. */
  readonly answeredMs: number | undefined;
}

export interface RunningCall {
  /** Ends the call with this status, even if its handler goes on. */
  abort(reason: GrpcError | AppError): void;
}

const failures: ReadonlySet<GrpcStatusName> = new Set([
  'UNKNOWN',
  'DEADLINE_EXCEEDED',
  'INTERNAL',
  'UNAVAILABLE',
  'DATA_LOSS',
]);
const maxTimerMs = 2 ** 31 - 1;

/** Serves one call on its stream, from headers to trailers. */
export function startCall(stream: ServerHttp2Stream, options: StartCallOptions): RunningCall {
  const { metadata, path, identify, requestId, record, span, logger, timeouts, onClosed } = options;
  const stopping = new LazyAbort();
  let headers = noHeaders;
  let principal: Principal | undefined;
  const call: Call = {
    path,
    requestId,
    get principal() {
      if (principal === undefined) throw new AppError('internal', 'the caller is not identified');
      return principal;
    },
    get lane() {
      return options.laneOf(principal);
    },
    metadata,
    get signal() {
      return stopping.signal;
    },
    setHeader: (name, value) => {
      headers = { ...headers, [name]: value };
    },
    waits: () => {
      hasWaited = true;
      place?.[Symbol.dispose]();
    },
  };
  let deadline: NodeJS.Timeout | undefined;
  let ended = false;
  let outcome = 'client_gone';
  // For a call whose client went away.
  let status: GrpcStatusName = 'CANCELLED';
  let answeredMs: number | undefined;
  let fault: ErrorCode | undefined;
  let hasWaited = false;
  let stopWatching: (() => void) | undefined;
  let place: Share | undefined;

  const end = (trailers: OutgoingHttpHeaders, last?: readonly Message[]): void => {
    ended = true;
    answeredMs ??= performance.now();
    clearTimeout(deadline);
    stopWatching = endResponse(stream, trailers, timeouts.stall, last);
  };
  const fail = (thrown: unknown): void => {
    if (ended || stream.destroyed) return;
    const error = thrown instanceof GrpcError ? thrown : toAppError(thrown);
    const code = error instanceof AppError ? error.code : undefined;
    outcome = error instanceof AppError ? error.code : error.status.toLowerCase();
    const level = code === 'internal' ? 'error' : 'debug';
    const traceId = span?.traceId ?? parseTraceparent(metadata.traceparent)?.traceId;
    logger[level]('call failed', { path, requestId, traceId, code, error: loggedError(error) });
    status = statusOf(error);
    fault = code !== undefined && isFault(code) ? code : undefined;
    end({ ...errorTrailers(error), 'x-request-id': requestId });
  };
  const abort = (reason: GrpcError | AppError): void => {
    if (ended) return;
    fail(reason);
    stopping.abort(reason);
  };

  stream.once('close', () => {
    clearTimeout(deadline);
    stopWatching?.();
    place?.[Symbol.dispose]();
    if (!ended) stopping.abort(new GrpcError('CANCELLED', 'the client cancelled the call'));
    ended = true;
    record?.end(outcome);
    onClosed({ status, hasFailed: failures.has(status), fault, hasWaited, answeredMs });
  });
  try {
    deadline = startDeadline(metadata['grpc-timeout']?.toString(), abort);
    const succeed = (last: readonly Message[]): void => {
      if (ended) return;
      outcome = 'ok';
      status = 'OK';
      end(okTrailers, last);
    };
    const respond = (): void => {
      options.goesOn();
      answeredMs = performance.now();
      startResponse(stream, headers);
    };
    const begin = (known: Principal | undefined): void => {
      // To identify the caller may take a while: the end of the call is over, and would not give its place back.
      if (ended) return;
      const traced = known === undefined || span === undefined ? known : { ...known, span };
      principal = traced === undefined || record === undefined ? traced : record.identified(traced);
      if (known !== undefined) options.admit?.(known);
      if (principal !== undefined) options.onIdentified(principal);
      const serve = (): void => {
        if (!ended) void run(stream, call, options, { stopping, respond, abort, place }).then(succeed, fail);
      };
      place = options.calls?.open({ lane: call.lane, revoke: abort });
      // Only an unfinished upload can be ended without harm.
      if (options.method.kind !== 'streaming') place?.settle();
      if (place === undefined || place.tryTake(1)) {
        const turn = place && sharedTurn(() => call.lane);
        if (turn === undefined) serve();
        else void turn.then(serve);
      } else place.take(1, { onlyBelowShare: true }).then(serve, fail);
    };
    const identified = identify?.();
    if (identified instanceof Promise) identified.then(begin).catch(fail);
    else begin(identified);
  } catch (error) {
    fail(error);
  }
  return { abort };
}

function startDeadline(header: string | undefined, abort: RunningCall['abort']): NodeJS.Timeout | undefined {
  if (header === undefined) return undefined;
  const timeoutMs = parseGrpcTimeoutMs(header);
  if (timeoutMs > maxTimerMs) return undefined;
  return setTimeout(() => abort(new GrpcError('DEADLINE_EXCEEDED', `deadline of ${timeoutMs} ms exceeded`)), timeoutMs);
}

interface RunParts extends RunningCall {
  readonly stopping: LazyAbort;
  /** Begins the answer. */
  readonly respond: () => void;
  /** Its place as a running call. */
  readonly place: Share | undefined;
}

/** Gives the last messages, where they are known to be that: the trailers leave with them. */
async function run(
  stream: ServerHttp2Stream,
  call: Call,
  { method, record, timeouts, identify, goesOn }: StartCallOptions,
  { stopping, respond, abort, place }: RunParts,
): Promise<readonly Message[]> {
  const sendAtOnce = async (messages: readonly Message[]): Promise<readonly Message[]> => {
    stopping.throwIfAborted();
    if (record !== undefined) await acknowledge(record, stopping);
    respond();
    if (record !== undefined) for (const message of messages) noteBytes(record, message);
    return messages;
  };
  const sendAll = async (messages: AsyncIterable<Message>): Promise<readonly Message[]> => {
    for await (const message of messages) {
      goesOn();
      stopping.throwIfAborted();
      if (record !== undefined) await acknowledge(record, stopping);
      if (!stream.headersSent) respond();
      if (record !== undefined) noteBytes(record, message);
      const turn = place && sharedTurn(() => call.lane);
      if (turn !== undefined) await turn;
      await writeMessage(stream, message, timeouts.stall);
    }
    if (record !== undefined) await acknowledge(record, stopping);
    // A stream of no messages still has headers and trailers.
    if (!stream.headersSent && !stopping.isAborted) respond();
    return [];
  };
  const oneMessage = async (): Promise<Uint8Array> => {
    const request = await onlyMessage(stream, call, method, timeouts.request);
    if (request.length > lightBytes) await ownTurn(identify === undefined ? '' : call.lane);
    goesOn();
    return request;
  };
  switch (method.kind) {
    case 'unary': {
      const request = await oneMessage();
      return sendAtOnce([await method.handle(request, call)]);
    }
    case 'serverStreaming': {
      const request = await oneMessage();
      const messages: Messages = await method.handle(request, call);
      return Symbol.asyncIterator in messages ? sendAll(messages) : sendAtOnce(messages);
    }
    case 'streaming':
      return sendAll(method.handle(requestMessages(stream, call, method, { revoke: abort, place, goesOn }), call));
    default:
      return method satisfies never;
  }
}

/** The line of a change is written before its client hears of it. */
async function acknowledge(record: AuditRecord, stopping: LazyAbort): Promise<void> {
  const line = record.acknowledge();
  if (line === undefined) return;
  await line;
  stopping.throwIfAborted();
}

/** For a change, the notes have the stored bytes. */
function noteBytes({ notes }: AuditRecord, message: Message): void {
  if (notes.changes > 0) return;
  for (const piece of piecesOf(message)) notes.addBytes(piece.length);
}
