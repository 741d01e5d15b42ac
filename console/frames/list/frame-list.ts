import { signal } from '@preact/signals';
import type { Answer } from '#client/api.ts';
import { FrameholdError } from '#client/errors.ts';
import { isAbort } from '../../api/api-error.ts';
import { call } from '../../api/request.ts';
import { describeFrame, type Frame } from '../frame.ts';
import { type FrameChange, watchFrames } from '../frame-changes.ts';

/** The first page is drawn before the others are requested. */
const firstPage = 100;
const laterPages = 1000;
const describeMs = 300;
/** More frames that changed at once are found by a listing. */
const maxDescribed = 20;

/** All frames by their handles. It stays when the list is left, so that it is complete on return. */
export const frames = signal<ReadonlyMap<string, Frame>>(new Map());
/** Whether all pages have arrived. */
export const isComplete = signal(false);
export const listError = signal<unknown>(undefined);

/** Keeps the list up to date until the returned function is called. For useEffect. */
export function followFrames(): () => void {
  const abort = new AbortController();
  const changed = new Set<string>();
  const dropped = new Set<string>();
  let listing: AbortController | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const refresh = (): void => {
    listing?.abort();
    listing = new AbortController();
    dropped.clear();
    void listAll(AbortSignal.any([abort.signal, listing.signal]), dropped);
  };
  const describeChanged = async (): Promise<void> => {
    timer = undefined;
    const handles = [...changed];
    changed.clear();
    if (handles.length > maxDescribed) {
      refresh();
      return;
    }
    for (const handle of handles) await describeOne(handle, abort.signal);
  };
  const onChange = (change: FrameChange): void => {
    if (change.kind === 'drop') {
      changed.delete(change.handle);
      dropped.add(change.handle);
      remove(change.handle);
      return;
    }
    const known = frames.peek().get(change.handle);
    if (known !== undefined && change.kind === 'append') {
      frames.value = new Map(frames.peek()).set(change.handle, { ...known, rows: change.rows });
    }
    dropped.delete(change.handle);
    changed.add(change.handle);
    timer ??= setTimeout(() => void describeChanged(), describeMs);
  };
  refresh();
  let isFirst = true;
  const stop = watchFrames(undefined, {
    onChange,
    onRefresh: () => {
      // The listing is running already.
      if (!isFirst) refresh();
      isFirst = false;
    },
  });
  return () => {
    stop();
    abort.abort();
    clearTimeout(timer);
  };
}

/** `dropped`: frames that were dropped while their page may have been requested already. */
async function listAll(abort: AbortSignal, dropped: ReadonlySet<string>): Promise<void> {
  const listed = new Map<string, Frame>();
  try {
    let after: string | undefined;
    do {
      const limit = after === undefined ? firstPage : laterPages;
      const page: Answer<'GET /handles'> = await call('GET /handles', { query: { limit, after }, signal: abort });
      if (abort.aborted) return;
      for (const frame of page.handles) listed.set(frame.handle, frame);
      after = page.next ?? undefined;
      // The old list stays until all pages are known.
      if (!isComplete.peek() && after !== undefined) frames.value = new Map(listed);
    } while (after !== undefined);
    for (const handle of dropped) listed.delete(handle);
    frames.value = listed;
    isComplete.value = true;
    listError.value = undefined;
  } catch (error) {
    if (!abort.aborted && !isAbort(error)) listError.value = error;
  }
}

async function describeOne(handle: string, abort: AbortSignal): Promise<void> {
  try {
    const frame = await describeFrame(handle, abort);
    frames.value = new Map(frames.peek()).set(handle, frame);
  } catch (error) {
    if (error instanceof FrameholdError && (error.status === 404 || error.status === 410)) remove(handle);
  }
}

function remove(handle: string): void {
  const left = new Map(frames.peek());
  left.delete(handle);
  frames.value = left;
}
