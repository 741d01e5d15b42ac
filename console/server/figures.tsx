import { formatBytes, formatCount, formatCountOf, formatDuration } from '../widgets/format.ts';
import { Sparkline } from './sparkline.tsx';
import type { Points } from './sparkline-path.ts';
import { rates, type Sample, type ServerStats, type Stats, series, shares } from './stats-history.ts';

interface Tile {
  readonly title: string;
  readonly value: string;
  readonly note?: string | undefined;
  readonly lines?: readonly Points[];
  readonly most?: number;
}

/** The work and the resources of the server, as small live plots. */
export function Figures({ samples }: { readonly samples: readonly Sample[] }) {
  const stats = samples.at(-1)?.stats;
  if (stats === undefined) return <div class="tiles" aria-busy="true" />;
  const tiles = stats.server === undefined ? tenantTiles(samples, stats) : serverTiles(samples, stats.server);
  return (
    <dl class="tiles" aria-label="Figures">
      {tiles.map(({ title, value, note, lines, most }) => (
        <div key={title} class="tile">
          <dt>{title}</dt>
          <dd>
            <span class="tile-value">{value}</span>
            {note !== undefined && <span class="muted">{note}</span>}
            {lines !== undefined && <Sparkline lines={lines} most={most} />}
          </dd>
        </div>
      ))}
    </dl>
  );
}

function tenantTiles(samples: readonly Sample[], { tenant }: Stats): readonly Tile[] {
  return [
    {
      title: 'Frames',
      value: formatCount(tenant.frames),
      note: formatBytes(tenant.bytes),
      lines: [series(samples, (each) => each.tenant.bytes)],
    },
    {
      title: 'Statements under way',
      value: formatCount(tenant.statements),
      lines: [series(samples, (each) => each.tenant.statements)],
    },
    {
      title: 'Followers',
      value: formatCount(tenant.followers),
      lines: [series(samples, (each) => each.tenant.followers)],
    },
  ];
}

function serverTiles(samples: readonly Sample[], now: ServerStats): readonly Tile[] {
  const of = (figure: (server: ServerStats) => number | undefined) => (stats: Stats) =>
    stats.server === undefined ? undefined : figure(stats.server);
  const requests = rates(
    samples,
    of(({ listeners }) => listeners.http.requests + listeners.grpc.requests),
  );
  const rowsPut = rates(
    samples,
    of(({ frames }) => frames.rows_put),
  );
  const bytesPut = rates(
    samples,
    of(({ frames }) => frames.bytes_put),
  );
  const hits = shares(
    samples,
    of(({ cache }) => cache.hits),
    of(({ cache }) => cache.misses),
  );
  const { listeners, memory, workers, cache, disk_cache: diskCache, disk, event_loop: delay } = now;
  const failed = listeners.http.failed + listeners.grpc.failed;
  return [
    {
      title: 'Requests',
      value: rate(requests.at(-1)),
      note: `${formatCount(listeners.http.under_way + listeners.grpc.under_way)} under way${failed > 0 ? `, ${formatCount(failed)} failed` : ''}`,
      lines: [requests],
    },
    latencyTile('HTTP latency', samples, 'http', now),
    ...(listeners.grpc.requests > 0 ? [latencyTile('gRPC latency', samples, 'grpc', now)] : []),
    {
      title: 'Event loop delay',
      value: delay === null ? '–' : shortMs(delay.p99_ms),
      note: delay === null ? undefined : `99th percentile; at most ${shortMs(delay.max_ms)}`,
      lines: [
        series(
          samples,
          of((server) => server.event_loop?.p99_ms),
        ),
      ],
    },
    {
      title: 'Memory',
      value: formatBytes(memory.rss_bytes),
      note: `${formatBytes(memory.heap_used_bytes)} heap`,
      lines: [
        series(
          samples,
          of((server) => server.memory.rss_bytes),
        ),
        series(
          samples,
          of((server) => server.memory.heap_used_bytes),
        ),
      ],
    },
    {
      title: 'Memory of SQL workers',
      value: workers.rss_bytes === null ? '–' : formatBytes(workers.rss_bytes),
      note: formatCountOf(workers.processes, 'process', 'processes'),
      lines: [
        series(
          samples,
          of((server) => server.workers.rss_bytes ?? undefined),
        ),
      ],
    },
    {
      title: 'Cache',
      value: formatBytes(cache.used_bytes),
      note: `of ${formatBytes(cache.budget_bytes)}`,
      lines: [
        series(
          samples,
          of((server) => server.cache.used_bytes),
        ),
      ],
      most: cache.budget_bytes,
    },
    {
      title: 'Hits of the cache',
      value: percent(hits.findLast((share) => share !== undefined) ?? shareOf(cache.hits, cache.misses)),
      note: `${formatCount(cache.hits)} hot, ${formatCount(cache.misses)} cold`,
      lines: [hits],
      most: 1,
    },
    ...(diskCache === null
      ? []
      : [
          {
            title: 'Cache on disk',
            value: formatBytes(diskCache.used_bytes),
            note: `of ${formatBytes(diskCache.budget_bytes)}; ${formatCount(diskCache.hits)} hits, ${formatCount(diskCache.misses)} misses`,
            lines: [
              series(
                samples,
                of((server) => server.disk_cache?.used_bytes),
              ),
            ],
          },
        ]),
    {
      title: 'Disk',
      value: disk === null ? '–' : `${formatBytes(disk.free_bytes)} free`,
      note:
        disk === null ? undefined : `of ${formatBytes(disk.total_bytes)}; frames take ${formatBytes(disk.used_bytes)}`,
      lines: [
        series(
          samples,
          of((server) => server.disk?.used_bytes),
        ),
      ],
    },
    {
      title: 'Rows kept',
      value: rate(rowsPut.at(-1)),
      note: `${formatCount(now.frames.rows_put)} since the start`,
      lines: [rowsPut],
    },
    {
      title: 'Bytes kept',
      value: byteRate(bytesPut.at(-1)),
      note: `${formatBytes(now.frames.bytes_put)} since the start`,
      lines: [bytesPut],
    },
    {
      title: 'Statements under way',
      value: formatCount(now.statements.under_way),
      note: `${formatCount(now.statements.begun)} since the start`,
      lines: [
        series(
          samples,
          of((server) => server.statements.under_way),
        ),
      ],
    },
    {
      title: 'Frames',
      value: formatCount(now.frames.frames),
      note: `${formatBytes(now.frames.bytes)}, ${formatCountOf(now.followers, 'follower')}`,
      lines: [
        series(
          samples,
          of((server) => server.frames.frames),
        ),
      ],
    },
  ];
}

function latencyTile(title: string, samples: readonly Sample[], listener: 'http' | 'grpc', now: ServerStats): Tile {
  const minute = now.listeners[listener].last_minute;
  const figure = (key: 'p50_ms' | 'p99_ms') =>
    series(samples, ({ server }) => server?.listeners[listener].last_minute?.[key] ?? undefined);
  return {
    title,
    value: minute === null ? '–' : shortMs(minute.p50_ms),
    note: minute === null ? 'no request for a minute' : `median; 99th percentile ${shortMs(minute.p99_ms)}`,
    lines: [figure('p50_ms'), figure('p99_ms')],
  };
}

function rate(perSecond: number | undefined): string {
  if (perSecond === undefined) return '–';
  return `${perSecond > 0 && perSecond < 10 ? perSecond.toFixed(1) : formatCount(Math.round(perSecond))}/s`;
}

function byteRate(perSecond: number | undefined): string {
  return perSecond === undefined ? '–' : `${formatBytes(perSecond)}/s`;
}

function shareOf(some: number, others: number): number | undefined {
  return some + others === 0 ? undefined : some / (some + others);
}

function percent(share: number | undefined): string {
  return share === undefined ? '–' : `${(share * 100).toFixed(share > 0.99 && share < 1 ? 1 : 0)} %`;
}

function shortMs(ms: number): string {
  return ms < 10 ? `${Number(ms.toPrecision(2))} ms` : formatDuration(ms);
}
