import type { IncomingHttpHeaders, OutgoingHttpHeaders, ServerHttp2Stream } from 'node:http2';
import { AppError, loggedError, toAppError } from '../../core/app-error.ts';
import type { TimeoutList } from '../../core/async/timeout-list.ts';
import type { AuditRecord } from '../../core/audit.ts';
import type { Logger } from '../../core/logger.ts';
import type { Principal } from '../../core/principal.ts';
import { GrpcError, grpcStatus } from '../wire/grpc-status.ts';
import { errorTrailers, okTrailers } from './error-status.ts';
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
  readonly requestId: string;
  /** Its line of the audit, where it has one. */
  readonly record: AuditRecord | undefined;
  readonly laneOf: (principal: Principal) => string;
  readonly logger: Logger;
  /** Called when its stream is gone. `hasFailed`: by a fault of the server, or of what it stands on. */
  readonly onClosed: (hasFailed: boolean) => void;
}

export interface RunningCall {
  /** Ends the call with this status, whatever its handler does. */
  abort(reason: GrpcError | AppError): void;
}

const faults: ReadonlySet<unknown> = new Set([
  grpcStatus.UNKNOWN,
  grpcStatus.DEADLINE_EXCEEDED,
  grpcStatus.INTERNAL,
  grpcStatus.UNAVAILABLE,
  grpcStatus.DATA_LOSS,
]);
const maxTimerMs = 2 ** 31 - 1;

/** Serves one call on its stream, from headers to trailers. */
export function startCall(stream: ServerHttp2Stream, options: StartCallOptions): RunningCall {
  const { metadata, path, identify, requestId, record, logger, timeouts, onClosed } = options;
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
      return options.laneOf(this.principal);
    },
    metadata,
    get signal() {
      return stopping.signal;
    },
    setHeader: (name, value) => {
      headers = { ...headers, [name]: value };
    },
  };
  let deadline: NodeJS.Timeout | undefined;
  let ended = false;
  let outcome = 'client_gone';
  let hasFailed = false;
  let stopWatching: (() => void) | undefined;

  const end = (trailers: OutgoingHttpHeaders, last?: readonly Message[]): void => {
    ended = true;
    clearTimeout(deadline);
    stopWatching = endResponse(stream, trailers, timeouts.stall, last);
  };
  const fail = (thrown: unknown): void => {
    if (ended || stream.destroyed) return;
    const error = thrown instanceof GrpcError ? thrown : toAppError(thrown);
    const code = error instanceof AppError ? error.code : undefined;
    outcome = error instanceof AppError ? error.code : error.status.toLowerCase();
    const level = code === 'internal' ? 'error' : 'debug';
    logger[level]('call failed', { path, requestId, code, error: loggedError(error) });
    const trailers = errorTrailers(error);
    hasFailed = faults.has(trailers['grpc-status']);
    end({ ...trailers, 'x-request-id': requestId });
  };
  const abort = (reason: GrpcError | AppError): void => {
    if (ended) return;
    fail(reason);
    stopping.abort(reason);
  };

  stream.once('close', () => {
    clearTimeout(deadline);
    stopWatching?.();
    if (!ended) stopping.abort(new GrpcError('CANCELLED', 'the client cancelled the call'));
    ended = true;
    record?.end(outcome);
    onClosed(hasFailed);
  });
  try {
    deadline = startDeadline(metadata['grpc-timeout']?.toString(), abort);
    const succeed = (last: readonly Message[]): void => {
      if (ended) return;
      outcome = 'ok';
      end(okTrailers, last);
    };
    const respond = (): void => startResponse(stream, headers);
    const begin = (known: Principal | undefined): void => {
      principal = known === undefined || record === undefined ? known : record.identified(known);
      if (known !== undefined) options.admit?.(known);
      if (principal !== undefined) options.onIdentified(principal);
      if (!ended) void run(stream, call, options, stopping, respond).then(succeed, fail);
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

/** Gives the last messages, where they are known to be that: the trailers leave with them. */
async function run(
  stream: ServerHttp2Stream,
  call: Call,
  { method, record, timeouts }: StartCallOptions,
  stopping: LazyAbort,
  respond: () => void,
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
      stopping.throwIfAborted();
      if (record !== undefined) await acknowledge(record, stopping);
      if (!stream.headersSent) respond();
      if (record !== undefined) noteBytes(record, message);
      await writeMessage(stream, message, timeouts.stall);
    }
    if (record !== undefined) await acknowledge(record, stopping);
    // A stream of no messages still has headers and trailers.
    if (!stream.headersSent && !stopping.isAborted) respond();
    return [];
  };
  switch (method.kind) {
    case 'unary': {
      const request = await onlyMessage(stream, call, method, timeouts.request);
      return sendAtOnce([await method.handle(request, call)]);
    }
    case 'serverStreaming': {
      const request = await onlyMessage(stream, call, method, timeouts.request);
      const messages: Messages = await method.handle(request, call);
      return Symbol.asyncIterator in messages ? sendAll(messages) : sendAtOnce(messages);
    }
    case 'streaming':
      return sendAll(method.handle(requestMessages(stream, call, method), call));
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

/** Of a change, the notes have the bytes that it kept. */
function noteBytes({ notes }: AuditRecord, message: Message): void {
  if (notes.changes > 0) return;
  for (const piece of piecesOf(message)) notes.addBytes(piece.length);
}
