import { randomUUID } from 'node:crypto';
import type { QueryProgress } from '../../core/frame-engine.ts';
import { ConnectFailure } from './connect-failure.ts';
import type { ExecuteResponse } from './connect-messages.ts';
import { queryProgress } from './query-progress.ts';
import { isRetriable, Retries } from './retries.ts';
import type { SparkSession } from './spark-session.ts';

/** A server keeps what it has sent, in case we ask again; it may forget so much at a time. */
const releaseEveryBytes = 4 * 1024 * 1024;
/** How long to wait for the server to stop a query before we go without. */
const stopTimeoutMs = 2000;

export interface ExecutionOptions {
  readonly signal: AbortSignal;
  readonly onProgress?: ((progress: QueryProgress) => void) | undefined;
  /** By which people find it among Spark's own. */
  readonly tags?: readonly string[];
}

/**
 * Runs a plan to its end, over as many streams as it takes. What was received is not received twice, and nothing is left
 * out. However this ends, the server stops first, and the call is given up only then: to give up a call stops nothing.
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
    // What the server says of a query that we have stopped ourselves is not news.
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
  /** Names the execution for good: the server runs it once, however often it is told to. */
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

  /** Only when the next response is asked for: what came before has been taken then. */
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

  /** Stops what runs on the server. */
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
        // Sail calls it an error to release what it does not know any more.
        if (!isOver) this.#session.noteMayBeBusy();
      });
    }
    this.#calling.abort();
    // Of a result that is complete nobody reads the end of its stream, which would stay open.
    await this.#stream?.return(undefined).catch(() => {});
  }

  async end(): Promise<void> {
    if (!this.isComplete || this.#stopping !== undefined) {
      await this.stop();
      return;
    }
    // Nobody needs to wait for the server to forget what is over.
    void this.stop();
  }
}

/** The server ends a stream after a time, or when something else has stopped the query: only asking again tells. */
function endedEarly(): ConnectFailure {
  return new ConnectFailure('UNAVAILABLE', 'the stream ended before the result');
}

function unavailable(failure: unknown): ConnectFailure {
  return new ConnectFailure('UNAVAILABLE', 'the operation did not arrive', { cause: failure });
}

/** Of the server, and not of the way to it. */
function isLastWord(failure: unknown): boolean {
  return failure instanceof ConnectFailure && failure.status !== 'DATA_LOSS' && !isRetriable(failure);
}

function isUnknownOperation(failure: unknown): boolean {
  return failure instanceof ConnectFailure && failure.is('INVALID_HANDLE.OPERATION_NOT_FOUND');
}
