import { FrameholdError } from '#client/errors.ts';
import { isAbort } from '../api/api-error.ts';
import { request, withQuery } from '../api/request.ts';
import { readServerEvents } from './server-events.ts';

export type FrameChange =
  | { readonly kind: 'put' | 'append'; readonly handle: string; readonly rows: number; readonly lineage: string }
  | { readonly kind: 'drop'; readonly handle: string };

export interface FrameWatcher {
  onChange(change: FrameChange): void;
  /** Changes may have been missed: look at everything. Also at first. */
  onRefresh(): void;
}

const minPauseMs = 1000;
const maxPauseMs = 30_000;
/** If the server has no room for another listener. */
const pollMs = 5000;

/** Reports changes while the page is visible, until the returned function is called. One connection: a browser has only six. */
export function watchFrames(prefix: string | undefined, watcher: FrameWatcher): () => void {
  const ended = new AbortController();
  let current: AbortController | undefined;
  const update = (): void => {
    if (document.visibilityState === 'visible' && !ended.signal.aborted) {
      current ??= new AbortController();
      void listen(prefix, watcher, current.signal);
    } else {
      current?.abort();
      current = undefined;
    }
  };
  document.addEventListener('visibilitychange', update, { signal: ended.signal });
  update();
  return () => {
    ended.abort();
    update();
  };
}

async function listen(prefix: string | undefined, watcher: FrameWatcher, signal: AbortSignal): Promise<void> {
  let pauseMs = minPauseMs;
  while (!signal.aborted) {
    try {
      const response = await request(withQuery('/handles', { live: 'sse', prefix }), { signal });
      watcher.onRefresh();
      pauseMs = minPauseMs;
      for await (const { event, data } of readServerEvents(response)) {
        if (event === 'end') break;
        if (event === 'put' || event === 'append' || event === 'drop') {
          watcher.onChange({ kind: event, ...(JSON.parse(data) as object) } as FrameChange);
        }
      }
    } catch (error) {
      if (signal.aborted || isAbort(error)) return;
      if (error instanceof FrameholdError && error.status === 401) return;
      watcher.onRefresh();
      pauseMs =
        error instanceof FrameholdError && error.status !== undefined ? pollMs : Math.min(pauseMs * 2, maxPauseMs);
    }
    await pause(pauseMs, signal);
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
