import { type ReadonlySignal, signal } from '@preact/signals';
import { FrameholdError } from '#client/errors.ts';
import type { HttpAnswer } from '#client/transport.ts';
import { formatColumnNames } from '../../api/column-names.ts';
import { parseExactJson } from '../../api/exact-json.ts';
import { rowsInRequests } from '../../api/max-limit.ts';
import { request, withQuery } from '../../api/request.ts';
import { type Cell, type GridColumn, type GridSource, gridColumn } from '../../grid/grid-source.ts';
import { type Frame, framePath, lineageOf, versionIdOf } from '../frame.ts';

/** More columns are requested in blocks. */
const mostColumns = 500;
/** A request has 16 KiB. */
const mostNameBytes = 10_000;

/** Reason for which no more rows can be read. */
export type FrameLoss = 'replaced' | 'dropped' | 'damaged';

export interface FrameSource extends GridSource {
  readonly handle: string;
  readonly lineage: string;
  readonly lost: ReadonlySignal<FrameLoss | undefined>;
  /** New rows. */
  grow(rowCount: number): void;
  lose(loss: FrameLoss): void;
}

/** The rows of a frame, of one lineage only: rows of a frame that replaced it are never shown among them. */
export function frameSource(frame: Frame, chosen: readonly string[] = []): FrameSource {
  const { handle } = frame;
  const lineage = lineageOf(frame.versionId ?? '');
  const all = (frame.columns ?? []).map(gridColumn);
  const indices = chosenIndices(all, chosen);
  const columns = indices?.map((index) => all[index] as GridColumn) ?? all;
  const isNested = columns.some(({ type }) => type === 'JSON' || type.endsWith('[]'));
  const blockColumns = blockColumnsOf(all.map(({ name }) => name));
  const rowCount = signal(frame.rows ?? 0);
  const lost = signal<FrameLoss | undefined>(undefined);
  return {
    key: `${handle} ${lineage} ${all.length} ${chosen.join(' ')}`,
    handle,
    lineage,
    columns,
    rowCount,
    lost,
    grow: (count) => {
      if (count > rowCount.peek()) rowCount.value = count;
    },
    lose: (loss) => {
      lost.value = loss;
    },
    rows: (from, to, abort) => rowsInRequests(from, to, abort, (first, end) => ask(first, end, abort)),
    blocks:
      blockColumns === undefined
        ? undefined
        : {
            columns: blockColumns,
            rows: (block, from, to, abort) => {
              const names = columns.slice(block * blockColumns, (block + 1) * blockColumns).map(({ name }) => name);
              return rowsInRequests(from, to, abort, (first, end) => askColumns(names, first, end, abort));
            },
          },
  };

  async function ask(from: number, to: number, abort: AbortSignal): Promise<readonly (readonly Cell[])[]> {
    const limit = `${from + 1},${to}`;
    const query = { handle, fmt: 'json', limit, quoteLargeNum: true, quoteNonFinite: true, version: lineage };
    const response = await askRows(withQuery('/exec', query), abort);
    const etag = response.headers.get('etag');
    if (etag !== null && lineageOf(versionIdOf(etag)) !== lineage) {
      lost.value = 'replaced';
      throw lossError(handle, 'replaced');
    }
    const dataset = await datasetOf(response);
    return indices === undefined ? dataset : dataset.map((row) => indices.map((index) => row[index] ?? null));
  }

  async function askColumns(
    names: readonly string[],
    from: number,
    to: number,
    abort: AbortSignal,
  ): Promise<readonly (readonly Cell[])[]> {
    const query = {
      from,
      limit: to - from,
      columns: formatColumnNames(names),
      fmt: 'json',
      quoteLargeNum: true,
      quoteNonFinite: true,
      lineage,
    };
    return datasetOf(await askRows(withQuery(framePath(handle, '/rows'), query), abort));
  }

  function askRows(path: string, abort: AbortSignal): Promise<HttpAnswer> {
    if (lost.peek() !== undefined) throw lossError(handle, lost.peek());
    return request(path, { signal: abort }).catch((error: unknown) => {
      if (error instanceof FrameholdError && error.code === 'frame_changed') lost.value = 'replaced';
      // Blocks of a replaced frame are gone, too; the change event has the better reason.
      else if (error instanceof FrameholdError && /^handle_(gone|not_found)$/.test(error.code))
        lost.value ??= 'dropped';
      throw error;
    });
  }

  async function datasetOf(response: HttpAnswer): Promise<readonly (readonly Cell[])[]> {
    const text = await response.text();
    return ((isNested ? parseExactJson(text) : JSON.parse(text)) as { dataset: Cell[][] }).dataset;
  }
}

/** To read thousands of columns takes many seconds, hundreds of them a moment. undefined: all at once. */
function blockColumnsOf(names: readonly string[]): number | undefined {
  // They are requested by name.
  const isUnique = new Set(names.map((name) => name.toLowerCase())).size === names.length && !names.includes('');
  if (names.length <= mostColumns || !isUnique) return undefined;
  const longest = Math.max(...names.map((name) => encodeURIComponent(name).length));
  return Math.max(1, Math.min(100, Math.floor(mostNameBytes / (longest + 10))));
}

function lossError(handle: string, loss: FrameLoss | undefined): FrameholdError {
  return loss === 'dropped'
    ? new FrameholdError('handle_gone', `${handle} was dropped`)
    : new FrameholdError('frame_changed', `${handle} was replaced by other rows`);
}

/** undefined: all, in their order. */
function chosenIndices(columns: readonly GridColumn[], chosen: readonly string[]): readonly number[] | undefined {
  const indices = chosen
    .map((name) => columns.findIndex((column) => column.name === name))
    .filter((index) => index >= 0);
  return indices.length === 0 ? undefined : indices;
}
