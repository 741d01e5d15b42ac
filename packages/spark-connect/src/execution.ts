import { randomUUID } from 'node:crypto';
import type { ExecuteResponse } from '@framehold/spark-connect/messages';
import { ConnectFailure } from './connect-failure.ts';
import { type QueryProgress, queryProgress } from './query-progress.ts';
import { isRetriable, Retries } from './retries.ts';
import type { SparkSession } from './spark-session.ts';

/** A server keeps sent responses for retries; after this many bytes it may drop them. */
const releaseEveryBytes = 4 * 1024 * 1024;
/** Most time to wait for the server to stop a query. */
const stopTimeoutMs = 2000;

export interface ExecutionOptions {
  readonly signal: AbortSignal;
  readonly onProgress?: ((progress: QueryProgress) => void) | undefined;
  /** By which people find it among Spark's own. */
  readonly tags?: readonly string[];
}

/**
 * Runs a plan to its end, over as many streams as it takes. No response is received twice or lost. However this ends, the server
 * stops first, and the call is given up only then: giving up a call stops nothing.
 */
export async function* execute(
  session: SparkSession,
  plan: Uint8Array,
  { signal, onProgress, tags = [] }: ExecutionOptions,
): AsyncGenerator<ExecuteResponse, void, undefined> {
  const execution = new Execution(session, plan, tags);
  const onAbort = (): void => void execution.stop();
  signal.addEventListener('abort', onAbort);
  try {
    signal.throwIfAborted();
    const retries = new Retries({ retryForMs: session.retryForMs, signal });
    while (!execution.isComplete) {
      const step = await execution.next();
      signal.throwIfAborted();
      if (step.kind === 'failed') {
        await retries.next(step.failure);
        continue;
      }
      retries.reset();
      const { response } = step;
      if (response.executionProgress !== undefined) onProgress?.(queryProgress(response.executionProgress));
      if (response.arrowBatch !== undefined) yield response;
    }
  } catch (thrown) {
    // After our own stop the server's error for the query is expected.
    signal.throwIfAborted();
    throw thrown;
  } finally {
    signal.removeEventListener('abort', onAbort);
    await execution.end();
  }
}

type Step =
  | { readonly kind: 'response'; readonly response: ExecuteResponse }
  | { readonly kind: 'failed'; readonly failure: unknown };

class Execution {
  readonly #session: SparkSession;
  readonly #plan: Uint8Array;
  readonly #tags: readonly string[];
  /** Identifies the execution: the server runs it once, however often the request is sent. */
  readonly #operationId = randomUUID();
  readonly #calling = new AbortController();
  #stream: AsyncGenerator<ExecuteResponse> | undefined;
  #lastResponseId: string | undefined;
  #unreleasedBytes = 0;
  #releasing: Promise<void> | undefined;
  #stopping: Promise<void> | undefined;
  #hasBegun = false;
  /** The server itself has said that it failed. */
  #hasFailed = false;
  isComplete = false;

  constructor(session: SparkSession, plan: Uint8Array, tags: readonly string[]) {
    this.#session = session;
    this.#plan = plan;
    this.#tags = tags;
  }

  async next(): Promise<Step> {
    this.#releaseSome();
    this.#stream ??= this.#open();
    try {
      const step = await this.#stream.next();
      if (step.done === true) throw endedEarly();
      return { kind: 'response', response: this.#take(step.value) };
    } catch (failure) {
      this.#stream = undefined;
      if (this.#lastResponseId === undefined && isUnknownOperation(failure)) {
        // It never arrived, so that it may be sent again.
        this.#hasBegun = false;
        return { kind: 'failed', failure: unavailable(failure) };
      }
      this.#hasFailed = isLastWord(failure);
      return { kind: 'failed', failure };
    }
  }

  #open(): AsyncGenerator<ExecuteResponse> {
    const { signal } = this.#calling;
    if (this.#hasBegun) return this.#session.reattach(this.#operationId, this.#lastResponseId, signal);
    this.#hasBegun = true;
    return this.#session.executePlan(this.#plan, { operationId: this.#operationId, tags: this.#tags }, signal);
  }

  #take(response: ExecuteResponse): ExecuteResponse {
    if (response.operationId !== '' && response.operationId !== this.#operationId) {
      throw new ConnectFailure('DATA_LOSS', 'an answer belongs to another operation');
    }
    if (response.responseId !== '') this.#lastResponseId = response.responseId;
    if (response.resultComplete !== undefined) this.isComplete = true;
    this.#unreleasedBytes += response.arrowBatch?.data.length ?? 0;
    return response;
  }

  /** Called only for the next response: the reader has taken the ones before by then. */
  #releaseSome(): void {
    if (this.#unreleasedBytes < releaseEveryBytes || this.#releasing !== undefined) return;
    this.#unreleasedBytes = 0;
    const releasing = this.#session.releaseExecute(this.#operationId, this.#lastResponseId, this.#calling);
    this.#releasing = releasing
      .catch(() => {})
      .finally(() => {
        this.#releasing = undefined;
      });
  }

  /** Stops the execution on the server. */
  stop(): Promise<void> {
    this.#stopping ??= this.#stop();
    return this.#stopping;
  }

  async #stop(): Promise<void> {
    if (this.#hasBegun) {
      const limit = { signal: AbortSignal.timeout(stopTimeoutMs) };
      const isOver = this.isComplete || this.#hasFailed;
      // To release it stops it as well, where this does not.
      if (!isOver) await this.#session.interrupt(this.#operationId, limit).catch(() => {});
      await this.#session.releaseExecute(this.#operationId, undefined, limit).catch(() => {
        // For Sail it is an error to release an execution that it has forgotten.
        if (!isOver) this.#session.noteMayBeBusy();
      });
    }
    this.#calling.abort();
    // The end of the stream of a complete result is never read, and the stream would stay open.
    await this.#stream?.return(undefined).catch(() => {});
  }

  async end(): Promise<void> {
    if (!this.isComplete || this.#stopping !== undefined) {
      await this.stop();
      return;
    }
    // Not awaited: the execution is over, and the server only forgets it.
    void this.stop();
  }
}

/** The server ends a stream after a time, or when the query was stopped otherwise: only another request tells which. */
function endedEarly(): ConnectFailure {
  return new ConnectFailure('UNAVAILABLE', 'the stream ended before the result');
}

function unavailable(failure: unknown): ConnectFailure {
  return new ConnectFailure('UNAVAILABLE', 'the operation did not arrive', { cause: failure });
}

/** An error of the server, and not of the way to it. */
function isLastWord(failure: unknown): boolean {
  return failure instanceof ConnectFailure && failure.status !== 'DATA_LOSS' && !isRetriable(failure);
}

function isUnknownOperation(failure: unknown): boolean {
  return failure instanceof ConnectFailure && failure.is('INVALID_HANDLE.OPERATION_NOT_FOUND');
}
