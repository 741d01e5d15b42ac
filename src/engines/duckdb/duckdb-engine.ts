import type { EncodedRows } from '@framehold/columns';
import type { Logger } from '../../core/logs/logger.ts';
import type {
  ChangeCounts,
  FrameEngine,
  JobOptions,
  PartFacts,
  PartRows,
  ReadRows,
  RowChanges,
  WritePart,
  WrittenPart,
} from '../../core/rows/frame-engine.ts';
import { mostOpenPerWorker } from './pool/job-places.ts';
import type { MeasuredShares } from './pool/measured-shares.ts';
import { workerEntry } from './pool/worker-entry.ts';
import { longestStallMs, type PoolFigures, WorkerPool } from './pool/worker-pool.ts';
import { encodedRows } from './protocol/encoded-rows.ts';
import type { Job, WarmCopy, WriteSource } from './protocol/protocol.ts';

export interface DuckDbEngineOptions {
  /** Child processes, each with one job at a time. */
  readonly workers: number;
  /** DuckDB's threads in each of them. */
  readonly threads: number;
  /** Its threads while it writes a file. Default: `threads`. */
  readonly writeThreads?: number;
  /** DuckDB's memory in each of them. */
  readonly memoryBytes: number;
  /** Folder for work larger than memory, with a subfolder for each worker. */
  readonly tempDirectory: string;
  /** Most bytes that one worker may spill. */
  readonly maxTempBytes: number;
  /** Spill shares of all workers of the server. Default: each worker has a limit of its own. */
  readonly spill?: MeasuredShares | undefined;
  /** Jobs that may wait for a worker. */
  readonly maxQueue: number;
  /** Most time for a read; 0 = without limit. */
  readonly timeoutMs: number;
  /** Most time for other work without progress. Default: ten minutes. */
  readonly stallMs?: number;
  readonly logger: Logger;
  /** Work that may wait: children of low priority, started when there is something to do. Default false. */
  readonly background?: boolean;
  /** Start the children at once rather than with the first job. Default: unless they are for the background. */
  readonly warm?: boolean;
}

/** DuckDB in child processes: a mistake, a crash or a bomb in it costs one child and its job. */
export class DuckDbEngine implements FrameEngine {
  readonly #pool: WorkerPool;

  constructor(options: DuckDbEngineOptions) {
    const background = options.background ?? false;
    this.#pool = new WorkerPool({
      entry: workerEntry(),
      workers: options.workers,
      // Open reads and writes beyond the working ones.
      mostParked: (2 * mostOpenPerWorker - 1) * options.workers,
      maxQueue: options.maxQueue,
      spill: options.spill,
      stallMs: options.stallMs ?? longestStallMs,
      timeoutMs: options.timeoutMs,
      logger: options.logger,
      warm: options.warm ?? !background,
      settings: {
        threads: options.threads,
        writeThreads: options.writeThreads ?? options.threads,
        memoryBytes: options.memoryBytes,
        tempDirectory: options.tempDirectory,
        maxTempBytes: options.maxTempBytes,
        lowPriority: background,
      },
    });
  }

  /** Process ids of the children. */
  get pids(): readonly number[] {
    return this.figures.pids;
  }

  get figures(): PoolFigures {
    return this.#pool.figures;
  }

  /** That tenants share. */
  get places(): WorkerPool['places'] {
    return this.#pool.places;
  }

  /** Makes the operator's analytics database where there is none yet. */
  async createDatabase(path: string, options: JobOptions): Promise<void> {
    await this.#pool.call({ kind: 'createDatabase', path }, options);
  }

  /** Copies the rows of a frame into a new database file, as the native table `frame`. */
  async warm(copy: WarmCopy, options: JobOptions): Promise<void> {
    await this.#pool.call({ kind: 'warm', ...copy }, options);
  }

  async probe(
    path: string,
    { looksForNan = false, ...options }: JobOptions & { readonly looksForNan?: boolean },
  ): Promise<PartFacts> {
    return (await this.#pool.call({ kind: 'probe', path, looksForNan }, options)) as PartFacts;
  }

  async hasChecksum(path: string, checksum: string, options: JobOptions): Promise<boolean> {
    return (await this.#pool.call({ kind: 'hasChecksum', path, checksum }, options)) as boolean;
  }

  async countChanges(changes: RowChanges, firstRows: readonly number[], options: JobOptions): Promise<ChangeCounts> {
    return (await this.#pool.call({ kind: 'countChanges', changes, firstRows }, options)) as ChangeCounts;
  }

  async write({ source, path, compression, ...how }: WritePart, options: JobOptions): Promise<WrittenPart> {
    const { compressesLater = false, isTemporary = false, notNull = [], comparesValues = false } = how;
    const input = source.kind === 'arrow' ? source.stream : undefined;
    const job: Job = {
      kind: 'write',
      source: onWire(source),
      path,
      compression,
      compressesLater,
      isTemporary,
      notNull,
      comparesValues,
    };
    return (await this.#pool.call(job, { ...options, input })) as WrittenPart;
  }

  async *read(job: ReadRows, { signal, lane }: JobOptions): AsyncGenerator<EncodedRows, void, undefined> {
    for await (const payload of this.#pool.run({ kind: 'read', ...job }, { signal, lane })) {
      yield encodedRows(payload);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#pool[Symbol.asyncDispose]();
  }
}

function onWire(source: PartRows): WriteSource {
  if (source.kind === 'arrow') return { kind: 'arrow' };
  if (source.kind !== 'file' || source.format.kind === 'parquet') return source as WriteSource;
  const { types = new Map(), ...format } = source.format;
  return { kind: 'file', path: source.path, format: { ...format, types: [...types] } };
}
