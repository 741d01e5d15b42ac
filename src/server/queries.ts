import type { Config } from '../config/config.ts';
import { Cleanup } from '../core/async/cleanup.ts';
import type { Logger } from '../core/logs/logger.ts';
import type { Timings } from '../core/logs/timings.ts';
import type { ReachOf } from '../engines/duckdb/worker-owners.ts';
import type { Frames } from '../frames/frames.ts';
import { AutoEngine } from '../query/auto-engine.ts';
import { EngineRouter } from '../query/engine-router.ts';
import type { FrameSql } from '../query/frame-sql.ts';
import { RowFilter } from '../query/row-filter.ts';
import { RunningQueries } from '../query/running-queries.ts';
import { SlowStatements } from '../query/slow-statements.ts';
import { FrameStatements } from '../query/statements/frame-statements.ts';
import { viewFrames } from '../query/view-frames.ts';
import type { PoolShares } from './duckdb-pools.ts';
import { type CreateClusterEngine, type Engines, openEngines } from './engines.ts';

/** SQL over frames, on every engine. */
export interface Queries extends AsyncDisposable {
  readonly engines: Engines;
  readonly sql: FrameSql;
  /** The frames and views for HTTP and Flight. */
  readonly frames: Frames;
  readonly running: RunningQueries;
  readonly filter: RowFilter;
  readonly slow: SlowStatements;
}

export async function openQueries(
  config: Config,
  frames: Frames,
  reachOf: ReachOf | undefined,
  createEngine: CreateClusterEngine,
  timings: Timings,
  shares: PoolShares,
  logger: Logger,
): Promise<Queries> {
  const { autoEngine, autoThresholdBytes: thresholdBytes, slowThresholdMs } = config.sql;
  return Cleanup.scope(async (cleanup) => {
    const engines = await openEngines(config, reachOf, createEngine, timings, shares, cleanup, logger);
    const { local, clusters, live } = engines;
    const cluster = clusters.find(({ name }) => name === autoEngine);
    const slow = new SlowStatements({ thresholdMs: slowThresholdMs, logger: logger.area('sql') });
    const running = new RunningQueries(timings, slow);
    const sql = new EngineRouter({
      local: new FrameStatements({ engine: local, frames, live }),
      clusters: new Map(
        clusters.map(({ name, sql: engine }) => [name, new FrameStatements({ engine, frames, caster: local })]),
      ),
      auto: new AutoEngine({ frames, local, cluster, thresholdBytes }),
      running,
      timeoutMs: config.sql.timeoutMs,
    });
    const filter = new RowFilter({ engine: local, frames });
    return { engines, sql, frames: viewFrames(frames, sql), running, filter, slow };
  });
}
