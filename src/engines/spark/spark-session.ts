import { randomUUID } from 'node:crypto';
import { AppError } from '../../core/app-error.ts';
import type { MessageType } from '../../protobuf/proto-message.ts';
import type { ConnectChannel } from './connect-channel.ts';
import { ConnectFailure } from './connect-failure.ts';
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
} from './connect-messages.ts';
import { retrying } from './retries.ts';

/** Sail speaks the same wire, but takes names and quotes another way and loses files in silence. */
export type Flavour = 'spark' | 'sail';

/** What every session is set to. A server that does not know one of them leaves it. */
const settings: Readonly<Record<string, string>> = {
  'spark.sql.session.timeZone': 'UTC',
  'spark.sql.ansi.enabled': 'true',
  'spark.sql.ansi.doubleQuotedIdentifiers': 'true',
  'spark.sql.runSQLOnFiles': 'false',
  'spark.sql.timeType.enabled': 'true',
  'spark.sql.legacy.parquet.nanosAsLong': 'true',
  'spark.sql.parquet.outputTimestampType': 'TIMESTAMP_MICROS',
  'spark.sql.files.ignoreMissingFiles': 'false',
  'spark.sql.files.ignoreCorruptFiles': 'false',
  // Above so many files Spark starts a job only to list them.
  'spark.sql.sources.parallelPartitionDiscovery.threshold': '1000',
  // Spark's own 10,000 makes many small messages of a large result; it bounds their bytes besides.
  'spark.sql.execution.arrow.maxRecordsPerBatch': '50000',
};

export interface SparkSessionOptions {
  readonly channel: ConnectChannel;
  readonly userId: string;
  readonly clientType: string;
  /** How long to try again while the server cannot be reached. */
  readonly patienceMs: number;
}

interface CallOptions {
  readonly signal: AbortSignal;
}

/** One session of a server: its calls, and what the server said of it. */
export class SparkSession {
  readonly id = randomUUID();
  readonly #options: SparkSessionOptions;
  #observedId: string | undefined;
  /** The connection over which the session was set up. */
  #epoch = -1;
  #mayBeBusy = false;

  constructor(options: SparkSessionOptions) {
    this.#options = options;
  }

  get patienceMs(): number {
    return this.#options.patienceMs;
  }

  get flavour(): Flavour {
    return this.#observedId === this.id ? 'sail' : 'spark';
  }

  /**
   * Whether the next query had better have another one. Behind a new connection there may be another server, and Sail
   * gives a session that it never saw a fresh start without a word.
   */
  get isDoubtful(): boolean {
    return this.#mayBeBusy || this.#epoch !== this.#options.channel.epoch;
  }

  /** The server did not say that it has stopped what ran here. */
  noteMayBeBusy(): void {
    this.#mayBeBusy = true;
  }

  async configure(options: CallOptions): Promise<void> {
    const pairs = Object.entries(settings).map(([key, value]) => ({ key, value }));
    await this.#config({ set: { pairs, silent: true }, get: undefined }, options);
    this.#epoch = this.#options.channel.epoch;
  }

  /** The cheapest call that only a server in working order answers. */
  async probe(options: CallOptions): Promise<void> {
    await this.#config({ set: undefined, get: { keys: ['spark.sql.session.timeZone'] } }, options);
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

  executePlan(plan: Uint8Array, operationId: string, signal: AbortSignal): AsyncGenerator<ExecuteResponse> {
    const requestOptions = [{ reattachOptions: { reattachable: true } }];
    return this.#stream(
      'ExecutePlan',
      ExecutePlanRequest.encode({ ...this.#own(), plan, operationId, requestOptions }),
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

  /** Up to a response, or all of it, which also stops what still runs. */
  async releaseExecute(operationId: string, until: string | undefined, { signal }: CallOptions): Promise<void> {
    const what = until === undefined ? { releaseAll: {} } : { releaseUntil: { responseId: until } };
    await this.#unary('ReleaseExecute', ReleaseExecuteRequest.encode({ ...this.#own(), operationId, ...what }), signal);
  }

  /** Tells the server to stop what runs of an operation. */
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
  ): Promise<void> {
    const answer = await this.#retried('Config', ConfigRequest.encode({ ...this.#own(), operation }), options);
    this.#observe(decoded(ConfigResponse, answer));
  }

  async #analyze(request: Uint8Array, options: CallOptions): Promise<ReturnType<typeof AnalyzePlanResponse.decode>> {
    const answer = decoded(AnalyzePlanResponse, await this.#retried('AnalyzePlan', request, options));
    this.#observe(answer);
    return answer;
  }

  async *#stream(method: string, request: Uint8Array, signal: AbortSignal): AsyncGenerator<ExecuteResponse> {
    for await (const message of this.#call(method, request, signal)) {
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
    const { patienceMs } = this.#options;
    return await retrying({ patienceMs, signal }, () => this.#unary(method, request, signal));
  }

  async #unary(method: string, request: Uint8Array, signal: AbortSignal): Promise<Uint8Array> {
    let answer: Uint8Array | undefined;
    for await (const message of this.#call(method, request, signal)) answer = message;
    if (answer === undefined) throw new ConnectFailure('DATA_LOSS', `${method} was answered without a message`);
    return answer;
  }

  #call(method: string, request: Uint8Array, signal: AbortSignal): AsyncGenerator<Uint8Array> {
    return this.#options.channel.call(`/${connectServiceName}/${method}`, request, signal);
  }

  /** What every request has. */
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

/** What a server sends is not its caller's fault. */
function decoded<T>(type: MessageType<T>, answer: Uint8Array): T {
  try {
    return type.decode(answer);
  } catch (cause) {
    if (!(cause instanceof AppError)) throw cause;
    throw new ConnectFailure('DATA_LOSS', 'an answer is not valid protobuf', { cause });
  }
}
