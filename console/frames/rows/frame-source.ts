import { type ReadonlySignal, signal } from '@preact/signals';
import { ApiError } from '../../api/api-error.ts';
import { rowsInRequests } from '../../api/max-limit.ts';
import { request, withQuery } from '../../api/request.ts';
import type { Cell, GridColumn, GridSource } from '../../grid/grid-source.ts';
import { type Frame, gridColumn, lineageOf, versionIdOf } from '../frame.ts';
import { parseExactJson } from './exact-json.ts';

/** Why no more rows can be had. */
export type FrameLoss = 'replaced' | 'dropped' | 'damaged';

export interface FrameSource extends GridSource {
  readonly handle: string;
  readonly lineage: string;
  readonly lost: ReadonlySignal<FrameLoss | undefined>;
  /** Rows came. */
  grow(rowCount: number): void;
  lose(loss: FrameLoss): void;
}

/** The rows of a frame, of one lineage only: those of a frame that was put in its place are never shown among them. */
export function frameSource(frame: Frame, chosen: readonly string[] = []): FrameSource {
  const { handle } = frame;
  const lineage = lineageOf(frame.versionId ?? '');
  const all = (frame.columns ?? []).map(gridColumn);
  const indices = chosenIndices(all, chosen);
  const columns = indices?.map((index) => all[index] as GridColumn) ?? all;
  const isNested = columns.some(({ type }) => type === 'JSON' || type.endsWith('[]'));
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
  };

  async function ask(from: number, to: number, abort: AbortSignal): Promise<readonly (readonly Cell[])[]> {
    if (lost.peek() !== undefined) throw lossError(handle, lost.peek());
    const limit = `${from + 1},${to}`;
    const query = { handle, fmt: 'json', limit, quoteLargeNum: true, version: lineage };
    const response = await request(withQuery('/exec', query), { signal: abort }).catch((error: unknown) => {
      if (error instanceof ApiError && error.code === 'frame_changed') lost.value = 'replaced';
      else if (error instanceof ApiError && /^handle_(gone|not_found)$/.test(error.code)) lost.value = 'dropped';
      throw error;
    });
    const etag = response.headers.get('etag');
    if (etag !== null && lineageOf(versionIdOf(etag)) !== lineage) {
      lost.value = 'replaced';
      throw lossError(handle, 'replaced');
    }
    const text = await response.text();
    const { dataset } = (isNested ? parseExactJson(text) : JSON.parse(text)) as { dataset: Cell[][] };
    return indices === undefined ? dataset : dataset.map((row) => indices.map((index) => row[index] ?? null));
  }
}

function lossError(handle: string, loss: FrameLoss | undefined): ApiError {
  return loss === 'dropped'
    ? new ApiError(410, 'handle_gone', `${handle} was dropped`)
    : new ApiError(409, 'frame_changed', `${handle} was replaced by other rows`);
}

/** undefined: all, in their order. */
function chosenIndices(columns: readonly GridColumn[], chosen: readonly string[]): readonly number[] | undefined {
  const indices = chosen
    .map((name) => columns.findIndex((column) => column.name === name))
    .filter((index) => index >= 0);
  return indices.length === 0 ? undefined : indices;
}
