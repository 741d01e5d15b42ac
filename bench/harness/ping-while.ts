import { setTimeout as delay } from 'node:timers/promises';
import { httpGetBody, urlOf } from './http-get.ts';
import type { HttpServer } from './server-process.ts';

const everyMs = 10;

/** Asks `/ping`, on a new connection each time, while a task runs; gives the latencies too, sorted. */
export async function pingWhile<T>(
  server: HttpServer,
  task: () => Promise<T>,
): Promise<{ readonly result: T; readonly pingsMs: readonly number[] }> {
  const url = urlOf(server, '/ping');
  const pingsMs: number[] = [];
  let isOver = false;
  const ping = async (): Promise<void> => {
    while (!isOver) {
      const startedAt = performance.now();
      await httpGetBody(url);
      pingsMs.push(performance.now() - startedAt);
      await delay(everyMs);
    }
  };
  const over = task().finally(() => {
    isOver = true;
  });
  const [result] = await Promise.all([over, ping()]);
  return { result, pingsMs: pingsMs.sort((a, b) => a - b) };
}
