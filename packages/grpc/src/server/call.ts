import type { IncomingHttpHeaders, OutgoingHttpHeaders, ServerHttp2Stream } from 'node:http2';
import { lightBytes, ownTurn, sharedTurn, type TimeoutList } from '@framehold/async';
import type { Share } from '../wire/capacity.ts';
import { GrpcError, type GrpcStatusName } from '../wire/grpc-status.ts';
import { failureOf, okTrailers, trailersOf } from './failure.ts';
import { parseGrpcTimeoutMs } from './grpc-timeout.ts';
import type { CallHooks, ConnectionHooks } from './hooks.ts';
import { LazyAbort } from './lazy-abort.ts';
import { writeMessage } from './message-writer.ts';
import type { Call, Message, Messages, Method } from './method.ts';
import { onlyMessage, requestMessages } from './request.ts';
import { endResponse, noHeaders, startResponse } from './response.ts';
import type { StallTimeout } from './write-stall.ts';

export interface CallTimeouts {
  /** For a unary request to arrive whole. */
  readonly request: TimeoutList;
  readonly stall: StallTimeout;
}

export interface StartCallOptions<Principal> {
  readonly timeouts: CallTimeouts;
  readonly method: Method<Principal>;
  /** Of the service: it serves anybody. */
  readonly isOpen: boolean;
  readonly path: string;
  readonly metadata: IncomingHttpHeaders;
  readonly rawHeaders: readonly string[] | undefined;
  readonly connection: ConnectionHooks<Principal>;
  /** Called when its stream is gone. */
  readonly onClosed: () => void;
}

export interface RunningCall {
  /** Ends the call with this error, even if its handler goes on. */
  abort(reason: Error): void;
}

const maxTimerMs = 2 ** 31 - 1;

/** Serves one call on its stream, from headers to trailers. */
export function startCall<Principal>(stream: ServerHttp2Stream, options: StartCallOptions<Principal>): RunningCall {
  const { metadata, rawHeaders, path, isOpen, timeouts } = options;
  const stopping = new LazyAbort();
  let headers = noHeaders;
  let principal: Principal | undefined;
  let deadline: NodeJS.Timeout | undefined;
  let ended = false;
  // For a call whose client went away.
  let status: GrpcStatusName = 'CANCELLED';
  let answeredMs: number | undefined;
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
    const failure = hooks.failed === undefined ? failureOf(thrown) : hooks.failed(thrown);
    status = failure.status;
    end({ ...trailersOf(failure), 'x-request-id': hooks.requestId });
  };
  const abort = (reason: Error): void => {
    if (ended) return;
    fail(reason);
    stopping.abort(reason);
  };
  const hooks = options.connection.begin({
    path,
    metadata,
    rawHeaders,
    isOpen,
    get hasEnded() {
      return ended || stream.destroyed;
    },
    abort,
  });
  const call: Call<Principal> = {
    path,
    requestId: hooks.requestId,
    get principal() {
      if (principal === undefined) throw new Error('the caller is not authenticated');
      return principal;
    },
    get lane() {
      return hooks.lane;
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

  stream.once('close', () => {
    clearTimeout(deadline);
    stopWatching?.();
    place?.[Symbol.dispose]();
    if (!ended) stopping.abort(new GrpcError('CANCELLED', 'the client cancelled the call'));
    ended = true;
    hooks.ended?.({ status, hasWaited, answeredMs });
    options.onClosed();
  });
  try {
    deadline = startDeadline(metadata['grpc-timeout']?.toString(), abort);
    const succeed = (last: readonly Message[]): void => {
      if (ended) return;
      status = 'OK';
      end(okTrailers, last);
    };
    const respond = (): void => {
      hooks.goesOn?.();
      answeredMs = performance.now();
      startResponse(stream, headers);
    };
    const begin = (known: Principal | undefined): void => {
      // To authenticate the caller may take a while: the end of the call is over, and would not give its place back.
      if (ended || stream.destroyed) return;
      principal = known;
      const serve = (): void => {
        if (!ended) void run(stream, call, options, { hooks, stopping, respond, abort, place }).then(succeed, fail);
      };
      place = isOpen ? undefined : hooks.openPlace?.();
      // Only an unfinished upload can be ended without harm.
      if (options.method.kind !== 'streaming') place?.settle();
      if (place === undefined || place.tryTake(1)) {
        const turn = place && sharedTurn(() => hooks.lane);
        if (turn === undefined) serve();
        else void turn.then(serve);
      } else place.take(1, { onlyBelowShare: true }).then(serve, fail);
    };
    const authenticated = isOpen ? undefined : hooks.authenticate();
    if (authenticated instanceof Promise) authenticated.then(begin).catch(fail);
    else begin(authenticated);
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
  readonly hooks: CallHooks<unknown>;
  readonly stopping: LazyAbort;
  /** Begins the answer. */
  readonly respond: () => void;
  /** Its place as a running call. */
  readonly place: Share | undefined;
}

/** Gives the last messages, where they are known to be that: the trailers leave with them. */
async function run<Principal>(
  stream: ServerHttp2Stream,
  call: Call<Principal>,
  { method, timeouts }: StartCallOptions<Principal>,
  { hooks, stopping, respond, abort, place }: RunParts,
): Promise<readonly Message[]> {
  const { goesOn, acknowledge, sending } = hooks;
  const acknowledged = async (): Promise<void> => {
    const done = acknowledge?.();
    if (done === undefined) return;
    await done;
    stopping.throwIfAborted();
  };
  const sendAtOnce = async (messages: readonly Message[]): Promise<readonly Message[]> => {
    stopping.throwIfAborted();
    if (acknowledge !== undefined) await acknowledged();
    respond();
    if (sending !== undefined) for (const message of messages) sending(message);
    return messages;
  };
  const sendAll = async (messages: AsyncIterable<Message>): Promise<readonly Message[]> => {
    for await (const message of messages) {
      goesOn?.();
      stopping.throwIfAborted();
      if (acknowledge !== undefined) await acknowledged();
      if (!stream.headersSent) respond();
      sending?.(message);
      const turn = place && sharedTurn(() => hooks.lane);
      if (turn !== undefined) await turn;
      await writeMessage(stream, message, timeouts.stall);
    }
    if (acknowledge !== undefined) await acknowledged();
    // A stream of no messages still has headers and trailers.
    if (!stream.headersSent && !stopping.isAborted) respond();
    return [];
  };
  const oneMessage = async (): Promise<Uint8Array> => {
    const request = await onlyMessage(stream, call, method, timeouts.request);
    if (request.length > lightBytes) await ownTurn(hooks.lane);
    goesOn?.();
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
