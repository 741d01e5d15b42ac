import { randomUUID } from 'node:crypto';
import { abortable } from '@framehold/async';
import { CodedError } from '@framehold/columns';
import type { MessageType } from '@framehold/grpc';
import { AppError } from '../../core/errors/app-error.ts';
import { wrongSetting } from '../../core/sql/statement-settings.ts';
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

const timeZoneSetting = 'spark.sql.session.timeZone';
const standardTimeZone = 'UTC';

/**
 * Settings that change the meaning of a text. A session that does not keep all of these is not used: its server could run another
 * statement than the checked one.
 */
const pinnedSettings: Readonly<Record<string, string>> = {
  // Otherwise Spark replaces ${…} with values of its environment, its settings and other callers' text.
  'spark.sql.variable.substitute': 'false',
  // Values of parameters become literals of the text, escaped as the settings below say. The other way loses them where a
  // query reads no table (4.1.4).
  'spark.sql.legacy.parameterSubstitution.constantsOnly': 'false',
  // There is none of this name: a table that the plan does not bring along is found nowhere.
  'spark.sql.defaultCatalog': 'framehold_has_no_catalog',
  'spark.sql.runSQLOnFiles': 'false',
  'spark.sql.scripting.enabled': 'false',
  'spark.sql.operatorPipeSyntaxEnabled': 'false',
  'spark.sql.parser.escapedStringLiterals': 'false',
  'spark.sql.parser.quotedRegexColumnNames': 'false',
  'spark.sql.caseSensitive': 'false',
  'spark.sql.ansi.enabled': 'true',
  'spark.sql.ansi.doubleQuotedIdentifiers': 'true',
  'spark.sql.ansi.enforceReservedKeywords': 'false',
  'spark.sql.ansi.relationPrecedence': 'false',
  'spark.sql.groupByAliases': 'true',
  'spark.sql.groupByOrdinal': 'true',
  'spark.sql.orderByOrdinal': 'true',
  'spark.sql.legacy.bangEqualsNot': 'false',
  'spark.sql.legacy.consecutiveStringLiterals.enabled': 'false',
  'spark.sql.legacy.ctePrecedencePolicy': 'CORRECTED',
  'spark.sql.legacy.exponentLiteralAsDecimal.enabled': 'false',
  'spark.sql.legacy.interval.enabled': 'false',
  'spark.sql.legacy.parser.havingWithoutGroupByAsWhere': 'false',
  'spark.sql.legacy.setopsPrecedence.enabled': 'false',
  'spark.sql.legacy.timeParserPolicy': 'CORRECTED',
  'spark.sql.timestampType': 'TIMESTAMP_LTZ',
  [timeZoneSetting]: standardTimeZone,
};

/** Further settings of every session. A server that does not know one of them ignores it. */
const otherSettings: Readonly<Record<string, string>> = {
  'spark.sql.timeType.enabled': 'true',
  'spark.sql.legacy.parquet.nanosAsLong': 'true',
  'spark.sql.parquet.outputTimestampType': 'TIMESTAMP_MICROS',
  'spark.sql.files.ignoreMissingFiles': 'false',
  'spark.sql.files.ignoreCorruptFiles': 'false',
  // Above this number of files Spark starts a job only to list them.
  'spark.sql.sources.parallelPartitionDiscovery.threshold': '1000',
  // Spark's own 10,000 makes many small messages of a large result; it bounds their bytes besides.
  'spark.sql.execution.arrow.maxRecordsPerBatch': '50000',
};

export interface SparkSessionOptions {
  readonly channel: ConnectChannel;
  readonly userId: string;
  readonly clientType: string;
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
  /** Undefined while unknown. */
  #timeZone: string | undefined;
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

  /** Only a server in working order answers. */
  async configure(options: CallOptions): Promise<void> {
    const pairs = Object.entries({ ...otherSettings, ...pinnedSettings }).map(([key, value]) => ({ key, value }));
    await this.#config({ set: { pairs, silent: true }, get: undefined }, options);
    const kept = await this.#config({ set: undefined, get: { keys: Object.keys(pinnedSettings) } }, options);
    for (const [key, value] of Object.entries(pinnedSettings)) if (kept.get(key) !== value) throw unpinned(key, value);
    this.#epoch = this.#options.channel.epoch;
    this.#timeZone = standardTimeZone;
  }

  /** The zone of later statements. Default: the standard. */
  async useTimeZone(zone: string | undefined, options: CallOptions): Promise<void> {
    const value = zone ?? standardTimeZone;
    if (this.#timeZone === value) return;
    this.#timeZone = undefined;
    await this.#config({ set: { pairs: [{ key: timeZoneSetting, value }], silent: true }, get: undefined }, options);
    const kept = await this.#config({ set: undefined, get: { keys: [timeZoneSetting] } }, options);
    if (kept.get(timeZoneSetting) !== value)
      throw zone === undefined ? unpinned(timeZoneSetting, value) : wrongSetting('TimeZone', zone);
    this.#timeZone = value;
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

function unpinned(setting: string, value: string): AppError {
  return new AppError(
    'engine_unreachable',
    `the engine does not keep ${setting} at ${value}, so that no SQL is sent to it`,
    {
      hint: 'the operator lets sessions change this setting on the cluster',
    },
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
