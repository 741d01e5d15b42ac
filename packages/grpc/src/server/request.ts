import type { ServerHttp2Stream } from 'node:http2';
import { IdleTimer, sharedTurn, type TimeoutList } from '@framehold/async';
import { CodedError } from '@framehold/columns';
import type { Capacity, Share } from '../wire/capacity.ts';
import { GrpcError } from '../wire/grpc-status.ts';
import { checkPrefix, endedInside, type FrameLimits, MessageReader, prefixBytes } from '../wire/message-frames.ts';
import { streamChunks } from '../wire/stream-chunks.ts';
import { floodGuard } from './data-flood-guard.ts';
import type { Call } from './method.ts';

const defaultMaxMessageBytes = 4 * 1024 * 1024;

interface Limits {
  readonly maxMessageBytes?: number;
  readonly idleTimeoutMs?: number;
  readonly memory?: Capacity;
}

interface CallParts {
  /** Ends the call. */
  readonly revoke: (error: Error) => void;
  /** Its place as a running call. */
  readonly place: Share | undefined;
  /** Called as bytes arrive. */
  readonly goesOn: (() => void) | undefined;
}

export function requestMessages(
  stream: ServerHttp2Stream,
  call: Call,
  limits: Limits,
  { revoke, place, goesOn }: CallParts,
): MessageReader {
  const memory = limits.memory?.open({ lane: call.lane, revoke });
  // Some readers do not read to the end, and one may go on with bytes that came before the end.
  stream.once('close', () => memory?.[Symbol.dispose]());
  const frameLimits = { ...frameLimitsOf(call, limits), memory };
  const bytes = requestBytes(stream, limits.idleTimeoutMs, [memory, place], {
    goesOn,
    turn: () => sharedTurn(() => call.lane),
  });
  return new MessageReader(bytes, frameLimits);
}

/** `shares`: may be revoked until all bytes have arrived. */
async function* requestBytes(
  stream: ServerHttp2Stream,
  idleTimeoutMs: number | undefined,
  shares: readonly (Share | undefined)[],
  { goesOn, turn }: { readonly goesOn: (() => void) | undefined; readonly turn: () => Promise<void> | undefined },
): AsyncGenerator<Buffer> {
  const chunks = streamChunks(stream);
  const idle = idleTimeoutMs === undefined ? undefined : new IdleTimer(idleTimeoutMs, () => sentNothing(idleTimeoutMs));
  // Not every reader reads to the end.
  stream.once('close', () => idle?.stop());
  const count = floodGuard(stream);
  try {
    for (;;) {
      const step = await (idle === undefined ? chunks.next() : idle.limit(chunks.next()));
      if (step.done === true) break;
      count(step.value.length);
      for (const share of shares) share?.progress();
      const others = turn();
      if (others !== undefined) await others;
      goesOn?.();
      yield step.value;
    }
  } finally {
    idle?.stop();
  }
  // Node ends the readable side of a stream that was reset without an error as if the client had sent everything.
  if (stream.aborted) throw cancelled();
  for (const share of shares) share?.settle();
}

/**
 * The message of a request that must have exactly one, and have it soon. Without the iterators of `requestMessages`, which
 * cost a small call more than its work.
 */
export function onlyMessage(
  stream: ServerHttp2Stream,
  call: Call,
  limits: Limits,
  timeouts: TimeoutList,
): Promise<Uint8Array> {
  const frameLimits = frameLimitsOf(call, limits);
  return new Promise((resolve, reject) => {
    let held: Buffer = Buffer.alloc(0);
    let filled = 0;
    let announced: number | undefined;
    const count = floodGuard(stream);
    let share: Share | undefined;
    let isWaiting = false;
    const settle = (act: () => void): void => {
      clearTimer();
      share?.[Symbol.dispose]();
      stream.off('data', onData).off('end', onEnd).off('close', onClose);
      act();
    };
    const fail = (error: unknown): void => settle(() => reject(error));
    const attempt = (act: () => void): void => {
      try {
        act();
      } catch (error) {
        fail(error);
      }
    };
    const add = (chunk: Buffer): void => {
      const before = filled;
      filled += chunk.length;
      // Copied, never kept as received: a chunk of one byte is a view of the 64 KiB that were read from the socket.
      if (before === 0 && isWhole(chunk)) held = chunk;
      else {
        if (filled > held.length) held = withRoom(held.subarray(0, before), Math.max(filled, wholeBytes(announced)));
        chunk.copy(held, before);
      }
      announced ??= checkPrefix(held.subarray(0, filled), frameLimits);
      if (announced !== undefined && filled > wholeBytes(announced)) throw tooMany(call.path);
    };
    const onData = (chunk: Buffer): void =>
      attempt(() => {
        count(chunk.length);
        // Most requests come in one chunk.
        if (filled > 0 || !isWhole(chunk)) share ??= limits.memory?.open({ lane: call.lane, revoke: fail });
        const others =
          share?.tryTake(chunk.length) === false ? share.take(chunk.length) : share && sharedTurn(() => call.lane);
        if (others === undefined) return add(chunk);
        stream.pause();
        isWaiting = true;
        others.then(() => {
          isWaiting = false;
          attempt(() => add(chunk));
          if (stream.readableEnded) onEnd();
          else stream.resume();
        }, fail);
      });
    const onEnd = (): void =>
      attempt(() => {
        if (isWaiting) return;
        if (stream.aborted) throw cancelled();
        const message = only(held.subarray(0, filled), frameLimits, call.path);
        settle(() => resolve(message));
      });
    const onClose = (): void => settle(() => reject(cancelled()));
    const clearTimer = timeouts.start(() => {
      const error = new CodedError('invalid_input', `the request did not arrive within ${timeouts.timeoutMs} ms`);
      settle(() => reject(error));
    });
    stream.on('data', onData).on('end', onEnd).on('close', onClose);
  });
}

/** A message, or something that is none. */
function isWhole(chunk: Buffer): boolean {
  return chunk.length >= prefixBytes && chunk.length >= wholeBytes(chunk.readUInt32BE(1));
}

function wholeBytes(announced: number | undefined): number {
  return prefixBytes + (announced ?? 0);
}

/** The system gives the pages as they are written, so that memory follows the received bytes. */
function withRoom(bytes: Buffer, room: number): Buffer {
  const out = Buffer.allocUnsafeSlow(room);
  bytes.copy(out);
  return out;
}

function only(body: Buffer, limits: FrameLimits, path: string): Uint8Array {
  if (body.length === 0) throw new GrpcError('UNIMPLEMENTED', `${path} takes one message, but none came`);
  const bytes = checkPrefix(body, limits);
  if (bytes === undefined || body.length < prefixBytes + bytes) throw endedInside();
  if (body.length > prefixBytes + bytes) throw tooMany(path);
  return body.subarray(prefixBytes);
}

function tooMany(path: string): GrpcError {
  return new GrpcError('UNIMPLEMENTED', `${path} takes one message, but more came`);
}

function frameLimitsOf(call: Call, { maxMessageBytes = defaultMaxMessageBytes }: Limits): FrameLimits {
  return { maxMessageBytes, encoding: call.metadata['grpc-encoding']?.toString() };
}

function sentNothing(idleTimeoutMs: number): CodedError {
  return new CodedError('invalid_input', `the client sent nothing for ${idleTimeoutMs / 1000} s`);
}

function cancelled(): GrpcError {
  return new GrpcError('CANCELLED', 'the client cancelled the call');
}
