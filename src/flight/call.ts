import { randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders, OutgoingHttpHeaders, ServerHttp2Stream } from 'node:http2';
import { AppError, loggedError, toAppError } from '../core/app-error.ts';
import type { Logger } from '../core/logger.ts';
import { GrpcError } from '../protobuf/grpc-status.ts';
import { errorTrailers, okTrailers } from './error-status.ts';
import { parseGrpcTimeoutMs } from './grpc-timeout.ts';
import { writeMessage } from './message-writer.ts';
import type { Call, Message, Method } from './method.ts';
import { onlyMessage, requestMessages } from './request.ts';
import { endResponse, startResponse } from './response.ts';

export interface CallTimeouts {
  /** For a unary request to arrive whole. */
  readonly requestTimeoutMs: number;
  /** How long a client may take no byte while there is something to send. */
  readonly stallTimeoutMs: number;
}

export interface CallOptions extends CallTimeouts {
  readonly method: Method;
  readonly path: string;
  readonly metadata: IncomingHttpHeaders;
  readonly lane: string;
  readonly logger: Logger;
}

export interface RunningCall {
  /** Ends the call with this status, whatever its handler does. */
  abort(reason: GrpcError): void;
}

const maxTimerMs = 2 ** 31 - 1;

/** Serves one call on its stream, from headers to trailers. */
export function startCall(stream: ServerHttp2Stream, options: CallOptions): RunningCall {
  const { metadata, path, lane, logger, stallTimeoutMs } = options;
  const requestId = givenRequestId(metadata) ?? newRequestId();
  const controller = new AbortController();
  const headers: OutgoingHttpHeaders = {};
  const setHeader = (name: string, value: string): void => {
    headers[name] = value;
  };
  const call: Call = { path, requestId, lane, metadata, signal: controller.signal, setHeader };
  let deadline: NodeJS.Timeout | undefined;
  let ended = false;

  const end = (trailers: OutgoingHttpHeaders): void => {
    ended = true;
    clearTimeout(deadline);
    endResponse(stream, trailers, stallTimeoutMs);
  };
  const fail = (thrown: unknown): void => {
    if (ended || stream.destroyed) return;
    const error = thrown instanceof GrpcError ? thrown : toAppError(thrown);
    const code = error instanceof AppError ? error.code : undefined;
    const level = code === 'internal' ? 'error' : 'debug';
    logger[level]('call failed', { path, requestId, code, error: loggedError(error) });
    end({ ...errorTrailers(error), 'x-request-id': requestId });
  };
  const abort = (reason: GrpcError): void => {
    if (ended) return;
    fail(reason);
    controller.abort(reason);
  };

  stream.once('close', () => {
    clearTimeout(deadline);
    if (!ended) controller.abort(new GrpcError('CANCELLED', 'the client cancelled the call'));
    ended = true;
  });
  try {
    deadline = startDeadline(metadata['grpc-timeout']?.toString(), abort);
    run(stream, call, headers, options).then(() => ended || end(okTrailers), fail);
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

async function run(
  stream: ServerHttp2Stream,
  call: Call,
  headers: OutgoingHttpHeaders,
  options: CallOptions,
): Promise<void> {
  const { method, requestTimeoutMs, stallTimeoutMs } = options;
  const send = async (message: Message): Promise<void> => {
    call.signal.throwIfAborted();
    if (!stream.headersSent) startResponse(stream, headers);
    await writeMessage(stream, message, stallTimeoutMs);
  };
  const sendAll = async (messages: AsyncIterable<Message>): Promise<void> => {
    for await (const message of messages) await send(message);
    // A stream of no messages still has headers and trailers.
    if (!stream.headersSent && !call.signal.aborted) startResponse(stream, headers);
  };
  switch (method.kind) {
    case 'unary': {
      const request = await onlyMessage(stream, call, method, requestTimeoutMs);
      return send(await method.handle(request, call));
    }
    case 'serverStreaming': {
      const request = await onlyMessage(stream, call, method, requestTimeoutMs);
      return sendAll(method.handle(request, call));
    }
    case 'streaming':
      return sendAll(method.handle(requestMessages(stream, call, method), call));
    default:
      method satisfies never;
  }
}

const idPrefix = randomBytes(5).toString('hex');
let ids = 0;

/** Sixteen digits, of which the first ten are this process's own. */
function newRequestId(): string {
  ids = (ids + 1) % 0x100_0000;
  return idPrefix + ids.toString(16).padStart(6, '0');
}

function givenRequestId(metadata: IncomingHttpHeaders): string | undefined {
  const id = metadata['x-request-id'];
  return typeof id === 'string' && /^[\w.-]{1,64}$/.test(id) ? id : undefined;
}
