import { statfs } from 'node:fs/promises';
import type { ByteCache } from '../../cache/byte-cache.ts';
import type { DiskCache } from '../../cache/disk-cache.ts';
import type { Principal } from '../../core/callers/principal.ts';
import type { Followers } from '../../follow/followers.ts';
import type { Frames, StoreTotals } from '../../frames/frames.ts';
import type { RunningQueries } from '../../query/running-queries.ts';
import type { EventLoopMonitor } from '../../telemetry/event-loop-delay.ts';
import { residentBytes } from '../../telemetry/process-figures.ts';
import type { RequestCounter } from '../../telemetry/request-counter.ts';
import { type JsonSchema, readParameters } from '../exchange/parameters.ts';
import { parseQueryString } from '../exchange/query-string.ts';
import type { Route } from '../exchange/route.ts';
import { sendJson } from '../json/send-json.ts';

type CacheFigures = Pick<ByteCache, 'budgetBytes' | 'usedBytes' | 'entries' | 'hits' | 'misses'>;

/** Counters of each listener. */
export interface RequestCounters {
  readonly http: RequestCounter;
  readonly grpc: RequestCounter;
}

export interface StatsSources {
  readonly version: string;
  readonly counters: RequestCounters;
  readonly eventLoop: EventLoopMonitor;
  readonly cache: CacheFigures;
  /** Undefined where it is switched off. */
  readonly diskCache: DiskCache | undefined;
  readonly frames: Pick<Frames, 'use'>;
  /** Over all tenants. */
  readonly totals: () => StoreTotals;
  readonly running: RunningQueries;
  readonly followers: Followers;
  readonly dataDir: string;
  /** The processes that run SQL, and read and write frames. */
  readonly workerPids: () => readonly number[];
}

/** Statistics of the server: all for operators, those of their tenant for other callers. */
export function statsRoute(sources: StatsSources): Route {
  return {
    path: '/stats',
    methods: ['GET', 'HEAD'],
    operations: {
      GET: {
        access: 'seeServer',
        summary: 'How the server is',
        description:
          'Cheap enough to be asked every second or two. Counters count since the start of the process: a rate is the difference of two answers.',
        parameters: {},
        responses: {
          200: {
            description: '`server` only for operators, and for everybody where there is no authentication.',
            content: { 'application/json': statsSchema },
          },
        },
        errors: ['invalid_parameter'],
      },
    },
    async handle(exchange) {
      readParameters({}, parseQueryString(exchange.target));
      const { principal } = exchange;
      const isForAll = principal.role === 'operator' && principal.prefix === undefined;
      sendJson(exchange, {
        version: sources.version,
        uptime_ms: Math.round(process.uptime() * 1000),
        tenant: await tenantStats(sources, principal),
        ...(isForAll && { server: await serverStats(sources) }),
      });
    },
  };
}

async function tenantStats({ frames, running, followers }: StatsSources, principal: Principal): Promise<object> {
  const use = await frames.use(principal);
  return {
    name: principal.tenant,
    frames: use.frames,
    bytes: use.bytes,
    statements: running.countOf(principal),
    followers: followers.countOf(principal),
  };
}

async function serverStats(sources: StatsSources): Promise<object> {
  const { counters, cache, diskCache, running, followers } = sources;
  const { rss, heapUsed, heapTotal, external } = process.memoryUsage();
  const disk = await statfs(sources.dataDir).catch(() => undefined);
  const delay = sources.eventLoop.read();
  const totals = sources.totals();
  const workerPids = sources.workerPids();
  const workerBytes = await residentBytes(workerPids);
  return {
    node: process.versions.node,
    memory: {
      rss_bytes: rss,
      heap_used_bytes: heapUsed,
      heap_total_bytes: heapTotal,
      external_bytes: external,
    },
    workers: { processes: workerPids.length, rss_bytes: workerBytes ?? null },
    event_loop: delay === undefined ? null : roundedTimes(delay),
    disk:
      disk === undefined
        ? null
        : { free_bytes: disk.bavail * disk.bsize, total_bytes: disk.blocks * disk.bsize, used_bytes: totals.bytes },
    cache: cacheStats(cache),
    disk_cache: diskCache === undefined ? null : { ...cacheStats(diskCache), damaged: diskCache.damaged },
    frames: {
      frames: totals.frames,
      bytes: totals.bytes,
      puts: totals.puts,
      rows_put: totals.rowsPut,
      bytes_put: totals.bytesPut,
    },
    statements: { under_way: running.size, begun: running.begun },
    followers: followers.size,
    listeners: { http: listenerStats(counters.http), grpc: listenerStats(counters.grpc) },
  };
}

function cacheStats({ budgetBytes, usedBytes, entries, hits, misses }: CacheFigures): object {
  return { budget_bytes: Math.floor(budgetBytes), used_bytes: usedBytes, entries, hits, misses };
}

function listenerStats(counter: RequestCounter): object {
  const { requests, failed, underWay } = counter;
  const quantiles = counter.quantiles();
  const lastMinute = quantiles && { count: quantiles.count, ...roundedTimes(quantiles) };
  return { requests, failed, under_way: underWay, last_minute: lastMinute ?? null };
}

function roundedTimes(times: {
  readonly p50Ms: number;
  readonly p90Ms?: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}): object {
  const rounded = (ms: number): number => Number(ms.toPrecision(3));
  return {
    p50_ms: rounded(times.p50Ms),
    ...(times.p90Ms !== undefined && { p90_ms: rounded(times.p90Ms) }),
    p99_ms: rounded(times.p99Ms),
    max_ms: rounded(times.maxMs),
  };
}

const count: JsonSchema = { type: 'integer', minimum: 0 };
const ms: JsonSchema = { type: 'number', minimum: 0 };

function object(properties: Readonly<Record<string, JsonSchema>>, more: JsonSchema = {}): JsonSchema {
  return { type: 'object', properties, required: Object.keys(properties), ...more };
}

function orNull(schema: JsonSchema, description: string): JsonSchema {
  return { ...schema, type: ['object', 'null'], description };
}

const listenerSchema = object({
  requests: { ...count, description: 'Since the start.' },
  failed: { ...count, description: 'Of them, those answered with a status of 500 or more, or its like over gRPC.' },
  under_way: count,
  last_minute: orNull(
    object({ count, p50_ms: ms, p90_ms: ms, p99_ms: ms, max_ms: ms }),
    'How long requests took that ended in the last minute, to a third; null where none did.',
  ),
});

const cacheCounts = { budget_bytes: count, used_bytes: count, entries: count, hits: count, misses: count };

const serverSchema = object({
  node: { type: 'string', description: 'The version of Node.js.' },
  memory: object(
    { rss_bytes: count, heap_used_bytes: count, heap_total_bytes: count, external_bytes: count },
    { description: 'Of this process, without its workers.' },
  ),
  workers: object(
    {
      processes: count,
      rss_bytes: { type: ['integer', 'null'], minimum: 0, description: 'Null where the system is not Linux.' },
    },
    { description: 'The processes that run SQL, and read and write frames.' },
  ),
  event_loop: orNull(
    object({ p50_ms: ms, p99_ms: ms, max_ms: ms }),
    'How late the process was for its work, within the last minute; null at the first request.',
  ),
  disk: orNull(
    object({
      free_bytes: count,
      total_bytes: count,
      used_bytes: { ...count, description: 'By the files of all frames.' },
    }),
    'Of the data directory.',
  ),
  cache: object(cacheCounts, {
    description: 'Encoded rows in memory. A read that misses a page asks once more for its rows.',
  }),
  disk_cache: orNull(
    object({ ...cacheCounts, damaged: { ...count, description: 'Chunks that were not as they had been written.' } }),
    'Encoded rows on disk; null where it is switched off.',
  ),
  frames: object(
    { frames: count, bytes: count, puts: count, rows_put: count, bytes_put: count },
    {
      description:
        'Of all tenants. `puts`, `rows_put` and `bytes_put` count what was put and appended since the start, in bytes as they were first stored.',
    },
  ),
  statements: object({ under_way: count, begun: count }, { description: 'Of all tenants.' }),
  followers: count,
  listeners: object({ http: listenerSchema, grpc: listenerSchema }),
});

const statsSchema: JsonSchema = {
  type: 'object',
  properties: {
    version: { type: 'string' },
    uptime_ms: count,
    tenant: object(
      { name: { type: 'string' }, frames: count, bytes: count, statements: count, followers: count },
      { description: 'What is under way and held of the tenant; `statements` as GET /queries lists them.' },
    ),
    server: serverSchema,
  },
  required: ['version', 'uptime_ms', 'tenant'],
};
