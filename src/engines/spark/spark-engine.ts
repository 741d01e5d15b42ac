import { ConnectChannel, parseConnectUrl, SparkSession } from '@framehold/spark-connect';
import { LinkedAbort } from '../../core/async/linked-abort.ts';
import type { Logger } from '../../core/logs/logger.ts';
import type { ClusterEngine, EngineHealth, EngineSlots } from '../../core/sql/engine.ts';
import type { ArrowRecoder, SqlEngine } from '../../core/sql/sql.ts';
import { version } from '../../core/system/version.ts';
import { PathMap } from './path-map.ts';
import { SessionPool } from './session-pool.ts';
import { sessionSettings } from './session-settings.ts';
import { SparkSqlEngine } from './spark-sql-engine.ts';
import { sqlFailure } from './sql-failure.ts';

export interface SparkEngineOptions {
  /** By which callers choose it. */
  readonly name: string;
  /** PySpark's form: `sc://host:15002/;token=…;use_ssl=true`. */
  readonly url: string;
  readonly coldDirectory: string;
  /** The cold directory as the cluster sees it, as a path or URI. Undefined: the same path. */
  readonly pathMap: string | undefined;
  /** Most time to connect, and to retry after a lost connection. */
  readonly connectTimeoutMs: number;
  /** Most working time of a query; 0 = without limit. */
  readonly queryTimeoutMs: number;
  /** Queries at once; more wait. */
  readonly maxConcurrent: number;
  /** Most bytes of a result, as Arrow. */
  readonly maxResultBytes: number;
  /** Certificates to trust beside the system's, as PEM. */
  readonly extraCertificatesFile: string | undefined;
  readonly recoder: ArrowRecoder;
  readonly logger: Logger;
}

const healthTimeoutMs = 3000;
/** The first session of a server that has just started takes it seconds. */
const shortestSetUpMs = 15_000;

/** Apache Spark, or Sail, behind its Connect protocol. Nothing is connected before the first query. */
export class SparkEngine implements ClusterEngine {
  readonly name: string;
  readonly kind = 'spark-connect';
  readonly sql: SqlEngine;
  readonly #channel: ConnectChannel;
  readonly #sessions: SessionPool;
  readonly #newSession: () => SparkSession;
  readonly #pathMap: PathMap;

  constructor(options: SparkEngineOptions) {
    const { name, coldDirectory, connectTimeoutMs, extraCertificatesFile, logger } = options;
    const address = parseConnectUrl(options.url);
    this.name = name;
    this.#pathMap = new PathMap(coldDirectory, options.pathMap);
    this.#channel = new ConnectChannel({
      address,
      connectTimeoutMs,
      extraCertificatesFile,
      userAgent: 'framehold',
      logger,
    });
    const session = {
      channel: this.#channel,
      userId: address.userId ?? 'framehold',
      clientType: `framehold/${version}`,
      retryForMs: connectTimeoutMs,
      settings: sessionSettings,
    };
    this.#newSession = () => new SparkSession({ ...session, retryForMs: 0 });
    this.#sessions = new SessionPool({
      engine: name,
      maxConcurrent: options.maxConcurrent,
      session,
      setUpTimeoutMs: Math.max(shortestSetUpMs, connectTimeoutMs),
      logger,
    });
    this.sql = new SparkSqlEngine({ ...options, sessions: this.#sessions, pathMap: this.#pathMap });
  }

  get slots(): EngineSlots {
    return this.#sessions.slots;
  }

  async health({ signal }: { readonly signal: AbortSignal }): Promise<EngineHealth> {
    using limit = new LinkedAbort([signal], healthTimeoutMs);
    const session = this.#newSession();
    try {
      await session.configure({ signal: limit.signal });
      const version = await session.version(limit).catch(() => undefined);
      // Sail reports the version of Spark that it emulates.
      const product = session.flavour === 'sail' ? ' (Sail)' : '';
      const { unstopped } = this.#sessions;
      return { state: 'up', version: version ? `${version}${product}` : undefined, unstopped };
    } catch (thrown) {
      signal.throwIfAborted();
      const failure = sqlFailure(thrown, {
        engine: this.name,
        pathMap: this.#pathMap,
        query: { sql: '' },
        sourcePosition: undefined,
        frames: [],
      });
      return {
        state: 'down',
        problem: limit.isLate ? `engine ${this.name} did not answer within 3 s` : messageOf(failure),
      };
    } finally {
      this.#sessions.drop(session);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#sessions[Symbol.asyncDispose]();
    this.#channel.close();
  }
}

function messageOf(failure: unknown): string {
  return failure instanceof Error ? failure.message : 'it cannot be reached';
}
