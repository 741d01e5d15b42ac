import { LinkedAbort } from '../../core/async/linked-abort.ts';
import { Semaphore } from '../../core/async/semaphore.ts';
import { AppError } from '../../core/errors/app-error.ts';
import { errorType } from '../../core/errors/error-type.ts';
import type { LogFields, Logger } from '../../core/logs/logger.ts';
import { noTimings, type Timings } from '../../core/logs/timings.ts';
import { tsdbEngineName } from '../../core/names/engine-names.ts';
import type { Tsdb, TsdbRequest } from '../../core/sql/tsdb.ts';
import { Breaker } from './breaker.ts';
import { parseUpstreamAddress, type UpstreamAddress } from './upstream-address.ts';
import { type UpstreamConnection, UpstreamConnections } from './upstream-connections.ts';
import { UpstreamExchange } from './upstream-exchange.ts';

export interface TsdbOptions {
  /** Base URL; user and password in it become a Basic authorization. */
  readonly url: string;
  /** Time for an answer to begin. */
  readonly timeoutMs: number;
  readonly connectTimeoutMs: number;
  /** Requests that run at once. */
  readonly maxConnections: number;
  /** Requests that may wait for one of those places. */
  readonly maxQueue: number;
  /** Silence in the middle of an answer after which it counts as broken off. Default 15 000. */
  readonly bodyIdleTimeoutMs?: number;
  /** Durations of requests until their answer begins. */
  readonly timings?: Timings;
  readonly logger: Logger;
}

/** The external time-series database over HTTP. */
export function createTsdb(options: TsdbOptions): Tsdb {
  const { url, timeoutMs, connectTimeoutMs, maxConnections, maxQueue, bodyIdleTimeoutMs = 15_000, logger } = options;
  const { timings = noTimings } = options;
  const address = parseUpstreamAddress(url);
  const { origin } = address;
  const overloaded = (why: string): AppError =>
    new AppError('overloaded', `all ${maxConnections} connections to the external database are in use, and ${why}`, {
      hint: 'send the request again shortly',
      retryAfterSeconds: 1,
    });
  const slots = new Semaphore(maxConnections, {
    maxWaiting: maxQueue,
    overloaded: () => overloaded('the queue for them is full'),
  });
  const breaker = new Breaker({
    pauseMs: 1000,
    now: () => performance.now(),
    onOpen: (failure) => logger.warn('the external database is down', { upstream: origin, ...fieldsOf(failure) }),
    onClose: () => logger.info('the external database is back', { upstream: origin }),
  });
  const opening = UpstreamConnections.load({ origin, connectTimeoutMs, maxConnections, bodyIdleTimeoutMs });
  opening.catch((error: unknown) => logger.error('the HTTP client did not load', { error: String(error) }));

  const prepare = (
    request: TsdbRequest,
    { dispatcher, giveBack }: UpstreamConnection,
    signal: AbortSignal,
    release: () => void,
  ): UpstreamExchange =>
    new UpstreamExchange({
      dispatcher,
      path: `${address.basePath}/${request.door}?${queryString(request.parameters)}`,
      headers: headersOf(request, address),
      signal,
      timeoutMs,
      onWritten: () => breaker.connected(),
      onBrokenBody: (failure) => logger.warn(failure.message, { upstream: origin, ...fieldsOf(failure) }),
      // A turn later, so that undici has seen a connection that was closed right behind its answer.
      onDone: () => {
        setImmediate(() => {
          giveBack();
          release();
        });
      },
    });

  const acquireSlot = async (signal: AbortSignal): Promise<() => void> => {
    using limit = new LinkedAbort([signal], timeoutMs);
    return await slots.acquire({ signal: limit.signal }).catch((error: unknown) => {
      throw limit.isLate ? overloaded(`none came free within ${timeoutMs} ms`) : error;
    });
  };

  const forward: Tsdb['forward'] = async (request, options) => {
    const begunMs = performance.now();
    try {
      const response = await attempt(request, options);
      timings.add(
        performance.now() - begunMs,
        tsdbEngineName,
        'forward',
        response.status < 400 ? '' : 'upstream_error',
      );
      return response;
    } catch (error) {
      timings.add(performance.now() - begunMs, tsdbEngineName, 'forward', errorType(error));
      throw error;
    }
  };

  const attempt: Tsdb['forward'] = async (request, { signal }) => {
    signal.throwIfAborted();
    breaker.check();
    const release = await acquireSlot(signal);
    let connections: UpstreamConnections;
    try {
      connections = await opening;
      signal.throwIfAborted();
      breaker.enter();
    } catch (error) {
      release();
      throw error;
    }
    // QuestDB takes Statement-Timeout from a connection's first request and applies it to all later ones there. A connection that
    // has exported once counts as an export as long as it is open, and there may be as few as two of these.
    const isKept = request.statementTimeout === undefined && request.door !== 'exp';
    const connection = connections.take(isKept ? 'kept' : 'once');
    const exchange = prepare(request, connection, signal, release);
    return exchange.run().catch((error: unknown) => {
      if (exchange.written) throw error;
      if (error instanceof AppError && error.code === 'tsdb_unreachable') breaker.failed(error);
      else breaker.abandoned();
      throw error;
    });
  };

  return {
    forward,
    get slots() {
      return { limit: slots.units, busy: slots.taken, waiting: slots.waiting };
    },
    get isDown() {
      return breaker.isOpen;
    },
    async [Symbol.asyncDispose]() {
      const connections = await opening;
      await connections[Symbol.asyncDispose]();
    },
  };
}

function headersOf(request: TsdbRequest, { authorization }: UpstreamAddress): Record<string, string> {
  const { acceptEncoding, statementTimeout, door } = request;
  return {
    accept: door === 'exp' ? '*/*' : 'application/json',
    'accept-encoding': acceptEncoding ?? 'identity',
    ...(authorization === undefined ? {} : { authorization }),
    ...(statementTimeout === undefined ? {} : { 'statement-timeout': statementTimeout }),
  };
}

function queryString(parameters: TsdbRequest['parameters']): string {
  const search = new URLSearchParams();
  for (const [name, value] of parameters) search.append(name, value);
  return search.toString();
}

function fieldsOf({ code, cause }: AppError): LogFields {
  return { code, cause: cause instanceof Error && 'code' in cause ? cause.code : undefined };
}
