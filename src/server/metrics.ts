import { statfs } from 'node:fs/promises';
import type { AccessRecords } from '../auth/access-records.ts';
import type { Config } from '../config/config.ts';
import { localEngineName, tsdbEngineName } from '../core/names/engine-names.ts';
import type { EngineSlots } from '../core/sql/engine.ts';
import { version } from '../core/system/version.ts';
import type { PoolFigures } from '../engines/duckdb/pool/worker-pool.ts';
import type { Followers } from '../follow/followers.ts';
import type { FrameStore } from '../frames/store.ts';
import type { MetricsSource } from '../http/routes/metrics.ts';
import type { EventLoopMonitor } from '../telemetry/event-loop-delay.ts';
import type { EventLoopWatch } from '../telemetry/event-loop-watch.ts';
import { exposition } from '../telemetry/exposition.ts';
import { openFiles, residentBytes } from '../telemetry/process-figures.ts';
import type { ServerTimings } from '../telemetry/server-timings.ts';
import type { Capacities } from './capacities.ts';
import type { FramePools } from './duckdb-pools.ts';
import type { Engines } from './engines.ts';
import { type MetricReading, metricTable, type TenantFigures } from './metric-table.ts';
import type { Queries } from './queries.ts';
import type { Readiness } from './readiness.ts';
import type { Tracing } from './tracing.ts';

/** The parts of the server with metrics. */
export interface MetricParts {
  readonly config: Config;
  readonly timings: ServerTimings;
  readonly eventLoop: EventLoopMonitor;
  readonly turns: EventLoopWatch;
  readonly store: FrameStore;
  readonly pools: FramePools;
  readonly queries: Queries;
  readonly followers: Followers;
  readonly capacities: Capacities;
  readonly readiness: Readiness;
  /** Undefined while there is no authentication. */
  readonly records: AccessRecords | undefined;
  /** Undefined where nothing is traced. */
  readonly tracing: Tracing | undefined;
  readonly connections: () => ReadonlyMap<string, number>;
}

export function createMetrics(parts: MetricParts): MetricsSource {
  const serverTable = metricTable.filter(({ isOfTenants }) => isOfTenants !== true);
  return async (format, { withTenants }) =>
    exposition(withTenants ? metricTable : serverTable, await read(parts, withTenants), format);
}

/** Counters of each pool of DuckDB processes. */
export function poolFigures(pools: FramePools, engines: Engines): ReadonlyMap<string, PoolFigures> {
  return new Map([
    ['frames', pools.foreground.figures],
    ['rewrite', pools.background.figures],
    ['copies', engines.copyEngine.figures],
    ['sql', engines.local.figures],
  ]);
}

async function read(parts: MetricParts, withTenants: boolean): Promise<MetricReading> {
  const { config, timings, eventLoop, store, queries, followers, readiness, connections } = parts;
  const { engines, running } = queries;
  const pools = [...poolFigures(parts.pools, engines)].map(
    async ([name, figures]) => [name, { ...figures, residentBytes: await residentBytes(figures.pids) }] as const,
  );
  const { foreground, shares } = parts.pools;
  const { spill, memory } = shares;
  const frames = { disk: store.uploadDisk, ...foreground.places };
  const shared = { ...parts.capacities, followers, ...frames, spill, sql_memory: memory };
  const [disk, files, tenants] = await Promise.all([
    statfs(config.storage.dataDir).catch(() => undefined),
    openFiles(),
    withTenants ? tenantFigures(parts) : new Map(),
  ]);
  return {
    version,
    timings,
    cache: store.cache,
    diskCache: store.diskCache,
    pools: new Map(await Promise.all(pools)),
    slots: slotsOf(engines),
    isTsdbDown: engines.tsdb?.isDown,
    totals: store.totals,
    backlog: store.backlog,
    scrubbedAt: store.scrubbedAt,
    isReady: readiness.problem === undefined,
    isStorageWritable: readiness.isStorageWritable,
    shares: new Map(Object.entries(shared).map(([name, { figures }]) => [name, figures])),
    statements: new Map(
      [localEngineName, ...engines.clusters.map(({ name }) => name)].map((name) => [
        name,
        running.byEngine.get(name) ?? 0,
      ]),
    ),
    connections: connections(),
    delay: eventLoop.read(),
    turns: parts.turns,
    disk,
    files,
    memory: process.memoryUsage(),
    tenants,
    spans: parts.tracing?.exporter,
  };
}

function slotsOf({ clusters, tsdb }: Engines): ReadonlyMap<string, EngineSlots> {
  const all = new Map(clusters.map(({ name, slots }) => [name, slots]));
  return tsdb === undefined ? all : all.set(tsdbEngineName, tsdb.slots);
}

async function tenantFigures({ store, records, queries }: MetricParts): Promise<ReadonlyMap<string, TenantFigures>> {
  const statements = queries.running.byTenant;
  const uses = new Map(store.uses());
  // A record that cannot be read must not take all other figures with it.
  const known = await records?.listTenants().catch(() => undefined);
  const all = known ?? [...uses.keys()].map((name) => ({ name, record: undefined }));
  return new Map(
    all.map(({ name, record: limits }) => {
      const use = uses.get(name) ?? { frames: 0, bytes: 0 };
      return [name, { ...use, limits, statements: statements.get(name) ?? 0 }];
    }),
  );
}
