import { signal } from '@preact/signals';
import type { Answer } from '#client/api.ts';
import { call } from '../../api/request.ts';

export type QueryProgress = NonNullable<Answer<'GET /queries'>['queries'][number]['progress']>;

const pollMs = 1000;

/** By the id of the statement; statements without progress are absent. */
export const progressById = signal<ReadonlyMap<string, QueryProgress>>(new Map());

/** Asks again and again, with one request at a time for all statements, while the page is seen. For useEffect. */
export function followProgress(): () => void {
  const controller = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const poll = async (): Promise<void> => {
    if (!document.hidden) {
      const { queries } = await call('GET /queries', { signal: controller.signal });
      const found = queries.flatMap(({ id, progress }) => (progress === null ? [] : [[id, progress] as const]));
      progressById.value = new Map(found);
    }
    next();
  };
  const next = (): void => {
    timer = setTimeout(() => void poll().catch(() => controller.signal.aborted || next()), pollMs);
  };
  next();
  return () => {
    clearTimeout(timer);
    controller.abort();
  };
}
