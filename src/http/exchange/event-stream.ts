import { toAppError } from '../../core/errors/app-error.ts';
import type { Exchange } from './exchange.ts';
import { ClientGone } from './response-writer.ts';

export interface ServerEvent {
  /** Default: `message`, which a browser gives to `onmessage`. */
  readonly event?: string | undefined;
  /** The `Last-Event-ID` of a client that reconnects. */
  readonly id?: number | undefined;
  readonly data: object;
}

/** Server-sent events (SSE), as the WHATWG's HTML standard has them. */
export const eventStreamType = 'text/event-stream; charset=utf-8';

export function eventBytes({ event, id, data }: ServerEvent): Buffer {
  const named = event === undefined ? '' : `event: ${event}\n`;
  const numbered = id === undefined ? '' : `id: ${id}\n`;
  return Buffer.from(`${named}${numbered}data: ${JSON.stringify(data)}\n\n`);
}

/**
 * Answers with events until the client leaves. The last event, `end`, gives any other reason; a fault before the first event is
 * an error response.
 */
export async function sendEvents(
  exchange: Exchange,
  events: AsyncGenerator<Uint8Array, void, undefined>,
): Promise<void> {
  try {
    const first = await events.next();
    exchange.headers.push('content-type', eventStreamType, ...exchange.cacheControl('no-store'));
    // Otherwise a reverse proxy may hold them until it has some kilobytes.
    exchange.headers.push('x-accel-buffering', 'no');
    await exchange.sendPieces(200, endingWithError(exchange, first, events));
  } finally {
    await events.return();
  }
}

async function* endingWithError(
  exchange: Exchange,
  first: IteratorResult<Uint8Array, void>,
  events: AsyncGenerator<Uint8Array, void, undefined>,
): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    if (first.done !== true) yield first.value;
    yield* events;
  } catch (error) {
    if (error instanceof ClientGone || exchange.isClosed) throw error;
    const why = toAppError(error);
    if (why.code === 'internal') throw error;
    exchange.failure = why.code;
    yield eventBytes({ event: 'end', data: { error: why.message, code: why.code, hint: why.hint } });
  }
}
