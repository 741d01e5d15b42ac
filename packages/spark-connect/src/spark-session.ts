import { randomUUID } from 'node:crypto';
import { abortable } from '@framehold/async';
import { CodedError } from '@framehold/columns';
import type { MessageType } from '@framehold/grpc';
import {
  AnalyzePlanRequest,
  AnalyzePlanResponse,
  ConfigRequest,
  ConfigResponse,
  connectServiceName,
  ExecutePlanRequest,
  ExecutePlanResponse,
  type ExecuteResponse,
  FetchErrorDetailsRequest,
  FetchErrorDetailsResponse,
  InterruptRequest,
  interruptOperation,
  ReattachExecuteRequest,
  ReleaseExecuteRequest,
  ReleaseSessionRequest,
} from '@framehold/spark-connect/messages';
import type { ConnectChannel } from './connect-channel.ts';
import { ConnectFailure } from './connect-failure.ts';
import { retrying } from './retries.ts';

/** Sail speaks the same wire, but takes names and quotes another way and loses files in silence. */
export type Flavour = 'spark' | 'sail';

/** Spark's settings for a session. */
export interface SessionSettings {
  /** A session that does not keep all of these is not used. */
  readonly pinned: Readonly<Record<string, string>>;
  /** A server that does not know one of these ignores it. */
  readonly other: Readonly<Record<string, string>>;
}

export interface SparkSessionOptions {
  readonly channel: ConnectChannel;
  readonly userId: string;
  readonly clientType: string;
  readonly settings: SessionSettings;
  /** The time for retries while the server cannot be reached. */
  readonly retryForMs: number;
}

interface CallOptions {
  readonly signal: AbortSignal;
}

/** One session of a server: its calls and the server's state. */
export class SparkSession {
  readonly id = randomUUID();
  readonly #options: SparkSessionOptions;
  #observedId: string | undefined;
  /** The connection over which the session was set up. */
  #epoch = -1;
  /** Those that the server keeps. */
  readonly #kept = new Map<string, string>();
  #mayBeBusy = false;
  /** Abandoned calls on which the server may still work. */
  readonly #leftCalls = new Set<Promise<void>>();
  readonly #cutting = new AbortController();

  constructor(options: SparkSessionOptions) {
    this.#options = options;
  }

  get retryForMs(): number {
    return this.#options.retryForMs;
  }

  get flavour(): Flavour {
    return this.#observedId === this.id ? 'sail' : 'spark';
  }

  /**
   * Whether the next query should use another session. A new connection may reach another server, and Sail silently creates an
   * unknown session anew.
   */
  get isDoubtful(): boolean {
    return this.#mayBeBusy || this.#epoch !== this.#options.channel.epoch;
  }

  /** Resolves when the server has ended every call, also abandoned ones: it goes on planning until it is done. */
  async untilQuiet(): Promise<void> {
    await Promise.all(this.#leftCalls);
  }

  /** Whether the server works on no abandoned call any more. */
  get isQuiet(): boolean {
    return this.#leftCalls.size === 0;
  }

  /** Drops all calls, whatever the server does with them. */
  cut(): void {
    this.#cutting.abort();
  }

  /** The server has not confirmed the stop of a query. */
  noteMayBeBusy(): void {
    this.#mayBeBusy = true;
  }

  /** Only a server in working order answers. Rejects with `engine_unreachable` where the server does not keep the pinned settings. */
  async configure(options: CallOptions): Promise<void> {
    const { pinned, other } = this.#options.settings;
    const pairs = Object.entries({ ...other, ...pinned }).map(([key, value]) => ({ key, value }));
    await this.#config({ set: { pairs, silent: true }, get: undefined }, options);
    const kept = await this.#config({ set: undefined, get: { keys: Object.keys(pinned) } }, options);
    for (const [key, value] of Object.entries(pinned)) {
      if (kept.get(key) !== value) throw settingNotKept(key, value);
      this.#kept.set(key, value);
    }
    this.#epoch = this.#options.channel.epoch;
  }

  /** Changes a setting for later statements. False where the server does not keep it. */
  async change(key: string, value: string, options: CallOptions): Promise<boolean> {
    if (this.#kept.get(key) === value) return true;
    this.#kept.delete(key);
    await this.#config({ set: { pairs: [{ key, value }], silent: true }, get: undefined }, options);
    const kept = await this.#config({ set: undefined, get: { keys: [key] } }, options);
    if (kept.get(key) !== value) return false;
    this.#kept.set(key, value);
    return true;
  }

  async version(options: CallOptions): Promise<string | undefined> {
    const request = AnalyzePlanRequest.encode({ ...this.#own(), sparkVersion: {} });
    return (await this.#analyze(request, options)).sparkVersion?.version;
  }

  /** The struct of the columns of a plan, encoded. */
  async schema(plan: Uint8Array, options: CallOptions): Promise<Uint8Array> {
    const request = AnalyzePlanRequest.encode({ ...this.#own(), schema: { plan } });
    return (await this.#analyze(request, options)).schema?.schema ?? new Uint8Array(0);
  }

  async inputFiles(plan: Uint8Array, options: CallOptions): Promise<readonly string[]> {
    const request = AnalyzePlanRequest.encode({ ...this.#own(), inputFiles: { plan } });
    return (await this.#analyze(request, options)).inputFiles?.files ?? [];
  }

  executePlan(
    plan: Uint8Array,
    operation: { readonly operationId: string; readonly tags: readonly string[] },
    signal: AbortSignal,
  ): AsyncGenerator<ExecuteResponse> {
    const requestOptions = [{ reattachOptions: { reattachable: true } }];
    return this.#stream(
      'ExecutePlan',
      ExecutePlanRequest.encode({ ...this.#own(), plan, ...operation, requestOptions }),
      signal,
    );
  }

  reattach(
    operationId: string,
    lastResponseId: string | undefined,
    signal: AbortSignal,
  ): AsyncGenerator<ExecuteResponse> {
    return this.#stream(
      'ReattachExecute',
      ReattachExecuteRequest.encode({ ...this.#own(), operationId, lastResponseId }),
      signal,
    );
  }

  /** Releases up to a response, or the whole execution, which also stops it if it still runs. */
  async releaseExecute(operationId: string, until: string | undefined, { signal }: CallOptions): Promise<void> {
    const what = until === undefined ? { releaseAll: {} } : { releaseUntil: { responseId: until } };
    await this.#unary('ReleaseExecute', ReleaseExecuteRequest.encode({ ...this.#own(), operationId, ...what }), signal);
  }

  /** Stops the execution of an operation on the server. */
  async interrupt(operationId: string, { signal }: CallOptions): Promise<void> {
    const request = InterruptRequest.encode({ ...this.#own(), interruptType: interruptOperation, operationId });
    await this.#unary('Interrupt', request, signal);
  }

  /** Ends the session on the server, with all that runs in it. */
  async release({ signal }: CallOptions): Promise<void> {
    const { observedSessionId: _, ...own } = this.#own();
    await this.#unary('ReleaseSession', ReleaseSessionRequest.encode(own), signal);
  }

  async errorDetails(errorId: string, { signal }: CallOptions) {
    const request = FetchErrorDetailsRequest.encode({ ...this.#own(), errorId });
    return decoded(FetchErrorDetailsResponse, await this.#unary('FetchErrorDetails', request, signal));
  }

  async #config(
    operation: Parameters<typeof ConfigRequest.encode>[0]['operation'],
    options: CallOptions,
  ): Promise<ReadonlyMap<string, string | undefined>> {
    const answer = await this.#retried('Config', ConfigRequest.encode({ ...this.#own(), operation }), options);
    const response = decoded(ConfigResponse, answer);
    this.#observe(response);
    return new Map(response.pairs.map(({ key, value }) => [key, value]));
  }

  async #analyze(request: Uint8Array, options: CallOptions): Promise<ReturnType<typeof AnalyzePlanResponse.decode>> {
    const { retryForMs } = this.#options;
    const { signal } = options;
    const analyze = () => lastOf('AnalyzePlan', this.#planCall('AnalyzePlan', request, signal));
    const answer = decoded(AnalyzePlanResponse, await retrying({ retryForMs, signal }, analyze));
    this.#observe(answer);
    return answer;
  }

  async *#stream(method: string, request: Uint8Array, signal: AbortSignal): AsyncGenerator<ExecuteResponse> {
    for await (const message of this.#planCall(method, request, signal)) {
      const response = decoded(ExecutePlanResponse, message);
      this.#observe(response);
      yield response;
    }
  }

  #observe({
    sessionId,
    serverSideSessionId,
  }: {
    readonly sessionId: string;
    readonly serverSideSessionId: string;
  }): void {
    if (sessionId !== '' && sessionId !== this.id) {
      throw new ConnectFailure('DATA_LOSS', 'an answer belongs to another session');
    }
    if (serverSideSessionId !== '') this.#observedId ??= serverSideSessionId;
  }

  async #retried(method: string, request: Uint8Array, { signal }: CallOptions): Promise<Uint8Array> {
    const { retryForMs } = this.#options;
    return await retrying({ retryForMs, signal }, () => this.#unary(method, request, signal));
  }

  async #unary(method: string, request: Uint8Array, signal: AbortSignal): Promise<Uint8Array> {
    return await lastOf(method, this.#call(method, request, signal));
  }

  /**
   * A call for which the server plans a query. Neither engine stops planning when the call is given up: the call stays open until
   * the server ends it, so that running work is known.
   */
  async *#planCall(method: string, request: Uint8Array, signal: AbortSignal): AsyncGenerator<Uint8Array> {
    const call = this.#call(method, request, this.#cutting.signal);
    try {
      for (;;) {
        const step = await abortable(call.next(), signal);
        if (step.done === true) return;
        yield step.value;
      }
    } finally {
      const ended = endOf(call).finally(() => this.#leftCalls.delete(ended));
      this.#leftCalls.add(ended);
    }
  }

  #call(method: string, request: Uint8Array, signal: AbortSignal): AsyncGenerator<Uint8Array> {
    return this.#options.channel.call(`/${connectServiceName}/${method}`, request, signal);
  }

  /** The fields of every request. */
  #own() {
    const { userId, clientType } = this.#options;
    return {
      sessionId: this.id,
      userContext: { userId, userName: userId },
      clientType,
      observedSessionId: this.#observedId,
    };
  }
}

async function lastOf(method: string, call: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  let answer: Uint8Array | undefined;
  for await (const message of call) answer = message;
  if (answer === undefined) throw new ConnectFailure('DATA_LOSS', `${method} was answered without a message`);
  return answer;
}

/** Resolves when a call has ended, or sends rows that are not read: then it can be given up. */
async function endOf(call: AsyncGenerator<Uint8Array>): Promise<void> {
  try {
    const step = await call.next();
    if (step.done !== true) await call.return(undefined);
  } catch {
    // It has ended all the same.
  }
}

export function settingNotKept(setting: string, value: string): CodedError {
  return new CodedError(
    'engine_unreachable',
    `the engine does not keep ${setting} at ${value}, so that no SQL is sent to it`,
    { hint: 'the operator lets sessions change this setting on the cluster' },
  );
}

/** A fault in a server's message is not its caller's fault. */
function decoded<T>(type: MessageType<T>, answer: Uint8Array): T {
  try {
    return type.decode(answer);
  } catch (cause) {
    if (!(cause instanceof CodedError)) throw cause;
    throw new ConnectFailure('DATA_LOSS', 'an answer is not valid protobuf', { cause });
  }
}
