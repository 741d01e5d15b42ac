import { getHeapStatistics } from 'node:v8';
import type { ByteCache } from '../cache/byte-cache.ts';
import type { DiskCache } from '../cache/disk-cache.ts';
import type { ShareFigures } from '../core/async/fair-shares.ts';
import type { TenantLimits } from '../core/callers/principal.ts';
import type { EngineSlots } from '../core/sql/engine.ts';
import type { PoolFigures } from '../engines/duckdb/pool/worker-pool.ts';
import type { FrameUse, StoreBacklog, StoreTotals } from '../frames/frames.ts';
import type { EventLoopDelay } from '../telemetry/event-loop-delay.ts';
import type { EventLoopWatch } from '../telemetry/event-loop-watch.ts';
import type { Figures, Metric } from '../telemetry/metric.ts';
import type { ServerTimings } from '../telemetry/server-timings.ts';

/** The use and the limits of a tenant. */
export interface TenantFigures extends FrameUse {
  /** Undefined where there are none, or they are not known. */
  readonly limits: Pick<TenantLimits, 'maxFrames' | 'maxBytes' | 'maxStatements' | 'maxRate'> | undefined;
  readonly statements: number;
}

/** The values of all metrics, at one moment. */
export interface MetricReading {
  readonly version: string;
  readonly timings: ServerTimings;
  readonly cache: ByteCache;
  /** Undefined where it is switched off. */
  readonly diskCache: DiskCache | undefined;
  /** The processes of each pool, with their memory. */
  readonly pools: ReadonlyMap<string, PoolFigures & { readonly residentBytes: number | undefined }>;
  /** For engines elsewhere. */
  readonly slots: ReadonlyMap<string, EngineSlots>;
  /** Undefined where there is none. */
  readonly isTsdbDown: boolean | undefined;
  readonly totals: StoreTotals;
  readonly backlog: StoreBacklog;
  /** In milliseconds since 1970. Undefined where that was never. */
  readonly scrubbedAt: number | undefined;
  readonly isReady: boolean;
  readonly isStorageWritable: boolean;
  /** The resources that tenants share, by name. */
  readonly shares: ReadonlyMap<string, ShareFigures>;
  /** Under way, by engine. */
  readonly statements: ReadonlyMap<string, number>;
  /** By listener. */
  readonly connections: ReadonlyMap<string, number>;
  /** Undefined where nothing was measured yet. */
  readonly delay: EventLoopDelay | undefined;
  readonly turns: Pick<EventLoopWatch, 'longestMs' | 'longTurns'>;
  readonly disk: { readonly bavail: number; readonly blocks: number; readonly bsize: number } | undefined;
  readonly files: { readonly open: number; readonly most: number } | undefined;
  readonly memory: NodeJS.MemoryUsage;
  /** Undefined where nothing is traced. */
  readonly spans: { readonly sent: number; readonly dropped: number } | undefined;
  /** Empty if they are not reported. */
  readonly tenants: ReadonlyMap<string, TenantFigures>;
}

function* ofEach<T>(
  map: ReadonlyMap<string, T>,
  value: (each: T) => number | undefined,
): Generator<[[string], number]> {
  for (const [name, each] of map) {
    const figure = value(each);
    if (figure !== undefined) yield [[name], figure];
  }
}

function* ofCaches(
  { cache, diskCache }: MetricReading,
  value: (cache: ByteCache | DiskCache) => number,
): Generator<[[string], number]> {
  yield [['memory'], value(cache)];
  if (diskCache !== undefined) yield [['disk'], value(diskCache)];
}

/** The bounds of the conventions, more below them for answers from memory, and more above for statements on a cluster. */
const limitsByConvention = [
  ...[0.5, 1, 2.5],
  ...[5, 10, 25, 50, 75, 100, 250, 500, 750, 1000, 2500, 5000, 7500, 10_000],
  ...[30_000, 60_000, 300_000, 600_000],
];
/** Fewer, where no convention applies. */
const fewLimits = [1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000, 60_000, 600_000];

const seconds = (ms: number | undefined): number | undefined => (ms === undefined ? undefined : ms / 1000);

interface Described {
  readonly name: string;
  readonly help: string;
  readonly labels?: readonly string[];
  readonly isOfTenants?: boolean;
  readonly read: (reading: MetricReading) => Figures;
}

const counter = (described: Described): Metric<MetricReading> => ({ kind: 'counter', labels: [], ...described });
const gauge = (described: Described): Metric<MetricReading> => ({ kind: 'gauge', labels: [], ...described });

/** Every metric of the server: its name, its meaning and its source. `docs/reference/metrics.md` is made of it. */
export const metricTable: readonly Metric<MetricReading>[] = [
  {
    kind: 'histogram',
    limitsMs: limitsByConvention,
    name: 'http_server_request_duration_seconds',
    help: 'HTTP requests, from their first line until the last byte of the answer was taken. Those that wait for rows are not among them; 499 are those whose client left before the answer began. http_route is empty where a request was not let in.',
    labels: ['http_route', 'http_request_method', 'http_response_status_code'],
    read: ({ timings }) => timings.http.durations,
  },
  {
    kind: 'histogram',
    limitsMs: fewLimits,
    name: 'framehold_http_first_byte_seconds',
    help: 'HTTP requests, until their answer began: readers that are slow do not count.',
    labels: ['http_route'],
    read: ({ timings }) => timings.http.firstBytes,
  },
  gauge({
    name: 'http_server_active_requests',
    help: 'HTTP requests under way.',
    read: ({ timings }) => timings.http.underWay,
  }),
  {
    kind: 'histogram',
    limitsMs: limitsByConvention,
    name: 'rpc_server_call_duration_seconds',
    help: 'gRPC calls, from their headers until their stream was closed.',
    labels: ['rpc_method', 'rpc_system_name', 'rpc_response_status_code'],
    read: ({ timings }) => timings.grpc.durations,
  },
  {
    kind: 'histogram',
    limitsMs: fewLimits,
    name: 'framehold_rpc_first_byte_seconds',
    help: 'gRPC calls, until their response began.',
    labels: ['rpc_method'],
    read: ({ timings }) => timings.grpc.firstBytes,
  },
  gauge({
    name: 'rpc_server_active_calls',
    help: 'gRPC calls under way.',
    read: ({ timings }) => timings.grpc.underWay,
  }),
  counter({
    name: 'framehold_request_faults',
    help: 'Requests and calls that failed by a fault of the server or of what it stands on, with the code of the error: never by one of their callers alone.',
    labels: ['listener', 'error_type'],
    *read({ timings }) {
      for (const [code, count] of timings.http.faults) yield [['http', code], count];
      for (const [code, count] of timings.grpc.faults) yield [['grpc', code], count];
    },
  }),
  gauge({
    name: 'framehold_connections',
    help: 'Open connections.',
    labels: ['listener'],
    read: ({ connections }) => ofEach(connections, (count) => count),
  }),
  gauge({
    name: 'framehold_shared',
    help: 'What callers share, where one tenant cannot take all: memory, bytes of bodies and messages that are held whole; requests, calls and followers, places; disk, bytes of uploads that are not a frame yet; reads and writes, places for work on frames; spill, bytes of disk for work larger than memory; sql_memory, bytes of the processes that run statements (disk, spill and sql_memory: 0 until there are some).',
    labels: ['capacity'],
    read: ({ shares }) => ofEach(shares, ({ units }) => units),
  }),
  gauge({
    name: 'framehold_shared_held',
    help: 'Of these, what is held.',
    labels: ['capacity'],
    read: ({ shares }) => ofEach(shares, ({ held }) => held),
  }),
  gauge({
    name: 'framehold_shared_waiting',
    help: 'Requests that wait for some of it.',
    labels: ['capacity'],
    read: ({ shares }) => ofEach(shares, ({ waiting }) => waiting),
  }),
  counter({
    name: 'framehold_shared_refusals',
    help: 'Requests that were refused because their tenant holds too much of it.',
    labels: ['capacity'],
    read: ({ shares }) => ofEach(shares, ({ refused }) => refused),
  }),
  counter({
    name: 'framehold_shared_revocations',
    help: 'Requests that were ended, and reads and writes of frames that were suspended, for others that waited: their tenant held more than its share, or they made no progress.',
    labels: ['capacity'],
    read: ({ shares }) => ofEach(shares, ({ revoked }) => revoked),
  }),
  gauge({
    name: 'framehold_followers',
    help: 'Clients that wait for rows or changes.',
    read: ({ shares }) => shares.get('followers')?.held,
  }),
  gauge({
    name: 'framehold_followers_limit',
    help: 'How many there may be: server.max_followers.',
    read: ({ shares }) => shares.get('followers')?.units,
  }),
  {
    kind: 'histogram',
    limitsMs: fewLimits,
    name: 'framehold_statement_duration_seconds',
    help: 'Statements by engine and what was done with them, with the code of the error where one failed. query: until the first rows; fetch: of a long result, from then until its reader had all of it; forward: of the external database, until its answer began.',
    labels: ['engine', 'operation', 'error_type'],
    read: ({ timings }) => timings.statements,
  },
  gauge({
    name: 'framehold_statements_running',
    help: 'Statements over frames under way.',
    labels: ['engine'],
    read: ({ statements }) => ofEach(statements, (count) => count),
  }),
  gauge({
    name: 'framehold_engine_slots',
    help: 'Statements that an engine elsewhere may have from this server at once.',
    labels: ['engine'],
    read: ({ slots }) => ofEach(slots, ({ limit }) => limit),
  }),
  gauge({
    name: 'framehold_engine_slots_busy',
    help: 'Of these, those it has.',
    labels: ['engine'],
    read: ({ slots }) => ofEach(slots, ({ busy }) => busy),
  }),
  gauge({
    name: 'framehold_engine_statements_waiting',
    help: 'Statements that wait for such a slot.',
    labels: ['engine'],
    read: ({ slots }) => ofEach(slots, ({ waiting }) => waiting),
  }),
  gauge({
    name: 'framehold_tsdb_down',
    help: '1 from a request to the external database that found no connection until one that does.',
    read: ({ isTsdbDown }) => (isTsdbDown === undefined ? undefined : Number(isTsdbDown)),
  }),
  gauge({
    name: 'framehold_duckdb_workers',
    help: 'DuckDB processes by pool and by what they do: frames reads and writes them, rewrite merges and compresses, copies makes native copies, sql runs statements.',
    labels: ['pool', 'state'],
    *read({ pools }) {
      for (const [pool, { busy, idle, starting }] of pools) {
        yield [[pool, 'busy'], busy];
        yield [[pool, 'idle'], idle];
        yield [[pool, 'starting'], starting];
      }
    },
  }),
  gauge({
    name: 'framehold_duckdb_jobs_waiting',
    help: 'Jobs that wait for such a process.',
    labels: ['pool'],
    read: ({ pools }) => ofEach(pools, ({ waiting }) => waiting),
  }),
  counter({
    name: 'framehold_duckdb_jobs',
    help: 'Jobs that were begun.',
    labels: ['pool'],
    read: ({ pools }) => ofEach(pools, ({ jobs }) => jobs),
  }),
  counter({
    name: 'framehold_duckdb_worker_exits',
    help: 'DuckDB processes that ended, and why: crashed, did_not_start, did_not_stop (killed, as a cancelled job went on), no_sign_of_life (killed), failed (DuckDB could not go on) or not_needed.',
    labels: ['pool', 'reason'],
    *read({ pools }) {
      for (const [pool, { exits }] of pools) for (const [reason, count] of exits) yield [[pool, reason], count];
    },
  }),
  gauge({
    name: 'framehold_duckdb_resident_memory_bytes',
    help: 'Memory of these processes.',
    labels: ['pool'],
    read: ({ pools }) => ofEach(pools, ({ residentBytes }) => residentBytes),
  }),
  {
    kind: 'histogram',
    limitsMs: fewLimits,
    name: 'framehold_put_duration_seconds',
    help: 'Puts and appends until they were durable, by mode, with the code of the error where one failed.',
    labels: ['mode', 'error_type'],
    read: ({ timings }) => timings.puts,
  },
  counter({
    name: 'framehold_put_rows',
    help: 'Rows that were put and appended.',
    read: ({ totals }) => totals.rowsPut,
  }),
  counter({
    name: 'framehold_put_bytes',
    help: 'Their bytes, as they were first stored.',
    read: ({ totals }) => totals.bytesPut,
  }),
  {
    kind: 'histogram',
    limitsMs: fewLimits,
    name: 'framehold_disk_write_duration_seconds',
    help: 'Waits of the main process for the disk: writes of logs, and syncs of manifests and folders. DuckDB processes sync the Parquet files that they write.',
    labels: ['write'],
    read: ({ timings }) => timings.disk,
  },
  gauge({ name: 'framehold_frames', help: 'Frames of all tenants.', read: ({ totals }) => totals.frames }),
  gauge({
    name: 'framehold_frames_damaged',
    help: 'Those of them that are damaged, as far as that is known: by a read or by the scrub.',
    read: ({ totals }) => totals.damaged,
  }),
  gauge({
    name: 'framehold_scrub_last_success_seconds',
    help: 'When the scrub last had read all frames and found all of them sound, in Unix time. Absent before the first time, and where frames.scrub_interval is 0s.',
    read: ({ scrubbedAt }) => seconds(scrubbedAt),
  }),
  gauge({ name: 'framehold_frames_bytes', help: 'Their files.', read: ({ totals }) => totals.bytes }),
  gauge({
    name: 'framehold_log_bytes',
    help: 'Appended rows that are in logs and not in Parquet yet.',
    read: ({ backlog }) => backlog.logBytes,
  }),
  gauge({
    name: 'framehold_log_oldest_seconds',
    help: 'How long the oldest of them have been there.',
    read: ({ backlog }) => seconds(backlog.oldestLogMs),
  }),
  counter({
    name: 'framehold_flush_failures',
    help: 'Logs that could not be brought into Parquet; each is tried again.',
    read: ({ backlog }) => backlog.flushFailures,
  }),
  gauge({
    name: 'framehold_rewrites_waiting',
    help: 'Frames whose parts are to be merged or compressed.',
    read: ({ backlog }) => backlog.rewritesWaiting,
  }),
  counter({
    name: 'framehold_rewrite_failures',
    help: 'Those that were given up; such frames stay as they are.',
    read: ({ backlog }) => backlog.rewriteFailures,
  }),
  gauge({
    name: 'framehold_cache_budget_bytes',
    help: 'What the cache of encoded rows may take.',
    labels: ['tier'],
    read: (reading) => ofCaches(reading, ({ budgetBytes }) => Math.floor(budgetBytes)),
  }),
  gauge({
    name: 'framehold_cache_used_bytes',
    help: 'What it takes.',
    labels: ['tier'],
    read: (reading) => ofCaches(reading, ({ usedBytes }) => usedBytes),
  }),
  gauge({
    name: 'framehold_cache_entries',
    help: 'Chunks and pages in it.',
    labels: ['tier'],
    read: (reading) => ofCaches(reading, ({ entries }) => entries),
  }),
  counter({
    name: 'framehold_cache_hits',
    help: 'Chunks and pages that were found in it.',
    labels: ['tier'],
    read: (reading) => ofCaches(reading, ({ hits }) => hits),
  }),
  counter({
    name: 'framehold_cache_misses',
    help: 'Those that were not.',
    labels: ['tier'],
    read: (reading) => ofCaches(reading, ({ misses }) => misses),
  }),
  counter({
    name: 'framehold_cache_evictions',
    help: 'Those that made room for others.',
    labels: ['tier'],
    read: (reading) => ofCaches(reading, ({ evictions }) => evictions),
  }),
  counter({
    name: 'framehold_disk_cache_damaged',
    help: 'Chunks on disk that were not as they had been written. They were read from the frame instead.',
    read: ({ diskCache }) => diskCache?.damaged,
  }),
  gauge({
    name: 'framehold_disk_free_bytes',
    help: 'Free space of the file system of the data directory.',
    read: ({ disk }) => disk && disk.bavail * disk.bsize,
  }),
  gauge({
    name: 'framehold_disk_size_bytes',
    help: 'Its size.',
    read: ({ disk }) => disk && disk.blocks * disk.bsize,
  }),
  gauge({
    name: 'framehold_ready',
    help: '1 while GET /readyz answers 200.',
    read: ({ isReady }) => Number(isReady),
  }),
  gauge({
    name: 'framehold_storage_writable',
    help: '1 while frames can be written, as a small write every two seconds tells. GET /readyz?for=writes says why they cannot.',
    read: ({ isStorageWritable }) => Number(isStorageWritable),
  }),
  gauge({
    name: 'framehold_tenant_frames',
    help: 'Frames of a tenant.',
    labels: ['tenant'],
    isOfTenants: true,
    read: ({ tenants }) => ofEach(tenants, ({ frames }) => frames),
  }),
  gauge({
    name: 'framehold_tenant_frames_limit',
    help: 'How many it may hold.',
    labels: ['tenant'],
    isOfTenants: true,
    read: ({ tenants }) => ofEach(tenants, ({ limits }) => limits?.maxFrames),
  }),
  gauge({
    name: 'framehold_tenant_bytes',
    help: 'The files of its frames.',
    labels: ['tenant'],
    isOfTenants: true,
    read: ({ tenants }) => ofEach(tenants, ({ bytes }) => bytes),
  }),
  gauge({
    name: 'framehold_tenant_bytes_limit',
    help: 'How many bytes it may hold.',
    labels: ['tenant'],
    isOfTenants: true,
    read: ({ tenants }) => ofEach(tenants, ({ limits }) => limits?.maxBytes),
  }),
  gauge({
    name: 'framehold_tenant_statements_running',
    help: 'Its statements under way.',
    labels: ['tenant'],
    isOfTenants: true,
    read: ({ tenants }) => ofEach(tenants, ({ statements }) => statements),
  }),
  gauge({
    name: 'framehold_tenant_statements_limit',
    help: 'How many it may have under way.',
    labels: ['tenant'],
    isOfTenants: true,
    read: ({ tenants }) => ofEach(tenants, ({ limits }) => limits?.maxStatements),
  }),
  counter({
    name: 'framehold_trace_spans_sent',
    help: 'Spans that the collector of traces took.',
    read: ({ spans }) => spans?.sent,
  }),
  counter({
    name: 'framehold_trace_spans_dropped',
    help: 'Spans that were dropped, as it took none for too long, or refused them.',
    read: ({ spans }) => spans?.dropped,
  }),
  gauge({
    name: 'framehold_tenant_request_rate_limit',
    help: 'How many requests a second it may send.',
    labels: ['tenant'],
    isOfTenants: true,
    read: ({ tenants }) => ofEach(tenants, ({ limits }) => limits?.maxRate),
  }),
  gauge({
    name: 'nodejs_eventloop_delay_p50_seconds',
    help: 'How late the process was for its work, within the last minute: the median.',
    read: ({ delay }) => seconds(delay?.p50Ms),
  }),
  gauge({
    name: 'nodejs_eventloop_delay_p99_seconds',
    help: 'The same, 99th percentile.',
    read: ({ delay }) => seconds(delay?.p99Ms),
  }),
  gauge({
    name: 'nodejs_eventloop_delay_max_seconds',
    help: 'The same, at most.',
    read: ({ delay }) => seconds(delay?.maxMs),
  }),
  gauge({
    name: 'framehold_event_loop_longest_turn_seconds',
    help: 'The longest turn of the event loop within the last one to two minutes: nobody is served while it lasts.',
    read: ({ turns }) => seconds(turns.longestMs),
  }),
  counter({
    name: 'framehold_event_loop_long_turns',
    help: 'Turns of more than 250 ms. The log names the request of each, as far as it is known.',
    read: ({ turns }) => turns.longTurns,
  }),
  gauge({
    name: 'nodejs_eventloop_utilization_ratio',
    help: 'The share of time since the start in which the event loop was busy. Of an interval: the difference of framehold_event_loop_active_seconds.',
    read: () => performance.eventLoopUtilization().utilization,
  }),
  counter({
    name: 'framehold_event_loop_active_seconds',
    help: 'Time in which the event loop was busy.',
    read: () => seconds(performance.eventLoopUtilization().active),
  }),
  gauge({
    name: 'v8js_memory_heap_used_bytes',
    help: 'JavaScript objects of this process.',
    read: ({ memory }) => memory.heapUsed,
  }),
  gauge({
    name: 'v8js_memory_heap_limit_bytes',
    help: 'How much there may be of them.',
    read: () => getHeapStatistics().heap_size_limit,
  }),
  counter({
    name: 'process_cpu_seconds',
    help: 'Processor time of this process, without its DuckDB processes.',
    read: () => (process.cpuUsage().user + process.cpuUsage().system) / 1e6,
  }),
  gauge({
    name: 'process_resident_memory_bytes',
    help: 'Memory of this process, without its DuckDB processes.',
    read: ({ memory }) => memory.rss,
  }),
  gauge({
    name: 'process_start_time_seconds',
    help: 'When the process began, in Unix time.',
    read: () => performance.timeOrigin / 1000,
  }),
  gauge({
    name: 'process_open_fds',
    help: 'Open files and sockets.',
    read: ({ files }) => files?.open,
  }),
  gauge({
    name: 'process_max_fds',
    help: 'How many there may be.',
    read: ({ files }) => files?.most,
  }),
  gauge({
    name: 'framehold_build_info',
    help: 'Always 1. The version of the server, and of Node.js.',
    labels: ['version', 'node'],
    read: ({ version }) => [[[version, process.versions.node], 1]],
  }),
];
