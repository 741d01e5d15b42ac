import { signal } from '@preact/signals';
import { getJson, withQuery } from '../api/request.ts';
import { type CompletedFrame, emptyIndex, type FrameIndex, indexOf } from './editor/completion.ts';

interface ListedFrame {
  readonly handle: string;
  readonly rows: number | null;
  readonly columns: CompletedFrame['columns'] | null;
}

const refreshAfterMs = 30_000;
const pageSize = 1000;
const mostFrames = 10_000;

/** The frames that statements may name, for completion. */
export const frameIndex = signal<FrameIndex>(emptyIndex);
let askedAt = Number.NEGATIVE_INFINITY;

/** Lists them anew where the listing is old, or `isStale` says that a statement changed them. */
export async function refreshFrames({ isStale = false, signal }: { isStale?: boolean; signal?: AbortSignal } = {}) {
  if (!isStale && performance.now() - askedAt < refreshAfterMs) return;
  askedAt = performance.now();
  const frames: CompletedFrame[] = [];
  let after: string | undefined;
  do {
    const page: { readonly handles: readonly ListedFrame[]; readonly next: string | null } = await getJson(
      withQuery('/handles', { limit: pageSize, after }),
      { signal },
    );
    for (const { handle, rows, columns } of page.handles) frames.push({ name: handle, rows, columns: columns ?? [] });
    after = page.next ?? undefined;
  } while (after !== undefined && frames.length < mostFrames);
  frameIndex.value = indexOf(frames);
}
