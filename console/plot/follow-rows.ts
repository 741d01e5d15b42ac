import { isAbort } from '../api/api-error.ts';
import { request, withQuery } from '../api/request.ts';
import type { PlotSource } from './plot-answer.ts';
import { classOf, type PlotSettings } from './plot-settings.ts';

/** Between two questions that fail. */
const retryMs = 5000;
/** Shortest time between two requests for a plot. */
const leastMs = 1000;

/** Reports rows that are added to a frame, with the greatest x among them, until the signal aborts. One request at a time. */
export async function followRows(
  { handle, columns }: Extract<PlotSource, { kind: 'frame' }>,
  { x }: Pick<PlotSettings, 'x'>,
  onRows: (greatest: number | undefined) => void,
  signal: AbortSignal,
): Promise<void> {
  const column = columns.find(({ name }) => name === x);
  const isTime = column !== undefined && classOf(column) === 'time';
  const path = `/handles/${encodeURIComponent(handle)}/rows`;
  while (!signal.aborted) {
    try {
      const query = {
        ...{ from: 'end', live: 'long-poll', wait: '30s', limit: 1000, fmt: 'json', quoteLargeNum: true },
        columns: column === undefined ? undefined : `"${column.name.replaceAll('"', '""')}"`,
      };
      const response = await request(withQuery(path, query), { signal });
      if (response.status === 204) continue;
      const { dataset } = (await response.json()) as { dataset: readonly (readonly (string | number | null)[])[] };
      const next = Number(response.headers.get('next-row'));
      const values = dataset.map(([cell = null]) => xOf(cell, isTime)).filter((value) => value !== undefined);
      const greatest = column === undefined ? next - 1 : values.length > 0 ? Math.max(...values) : undefined;
      onRows(greatest);
      await pause(leastMs, signal);
    } catch (error) {
      if (isAbort(error) || signal.aborted) return;
      await pause(retryMs, signal);
    }
  }
}

function xOf(cell: string | number | null, isTime: boolean): number | undefined {
  if (cell === null) return undefined;
  if (!isTime) return Number(cell);
  const [, whole = '', fraction = ''] = /^(.*?)(?:\.(\d+))?Z?$/.exec(String(cell)) ?? [];
  const ms = Date.parse(`${whole.includes('T') ? whole : `${whole}T00:00:00`}Z`);
  return Number.isNaN(ms) ? undefined : ms * 1000 + Number(fraction.padEnd(6, '0').slice(0, 6));
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(done, ms);
    function done(): void {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    }
    signal.addEventListener('abort', done);
  });
}
