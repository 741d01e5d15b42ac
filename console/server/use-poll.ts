import { useEffect } from 'preact/hooks';

/** Runs the task at once and then repeatedly, while the view exists and the page is visible; never two at a time. */
export function usePoll(task: (signal: AbortSignal) => Promise<void>, everyMs: number): void {
  // The first task stays: it works with signals, not with rendered values.
  useEffect(() => {
    const leaving = new AbortController();
    const { signal } = leaving;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isRunning = false;
    const run = async (): Promise<void> => {
      clearTimeout(timer);
      if (isRunning || signal.aborted || document.hidden) return;
      isRunning = true;
      try {
        await task(signal);
      } finally {
        isRunning = false;
        if (!signal.aborted) timer = setTimeout(() => void run(), everyMs);
      }
    };
    document.addEventListener('visibilitychange', () => void run(), { signal });
    void run();
    return () => {
      leaving.abort();
      clearTimeout(timer);
    };
  }, []);
}
