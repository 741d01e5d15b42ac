import { afterEach, expect, test } from 'vitest';
import { EventLoopWatch } from './event-loop-watch.ts';
import { createLogger } from './logger.ts';

const lines: string[] = [];
const logger = createLogger({
  stream: { write: (line: string) => lines.push(line) },
  filter: { level: 'info', areas: {} },
  format: 'json',
});
const slow = { route: '/slow', requestId: 'r-slow' };
const other = { route: '/other', requestId: 'r-other' };
const last = { route: '/last', requestId: 'r-last' };

afterEach(() => {
  lines.length = 0;
});

function work(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

/** Until the watch has looked after the turn. */
async function ticked(watch: EventLoopWatch): Promise<void> {
  await expect.poll(() => watch.longestMs).toBeGreaterThan(0);
}

test('a turn of more than 250 ms is counted, and told with the request that took it', async () => {
  using watch = new EventLoopWatch(logger);
  watch.goesOn(other);
  watch.goesOn(slow);
  work(300);
  watch.goesOn(last);
  await expect.poll(() => watch.longTurns).toBe(1);
  expect(watch.longestMs).toBeGreaterThan(250);
  const [told, ...more] = lines.map((line) => JSON.parse(line));
  expect(more).toEqual([]);
  expect(told).toMatchObject({ level: 'warn', msg: 'the event loop stood still', nextRoute: '/last' });
  expect(told).toMatchObject({ route: '/slow', requestId: 'r-slow', nextRequestId: 'r-last' });
  expect(told.ms).toBeGreaterThan(250);
  expect(told.cpuMs).toBeGreaterThan(0);
});

test('what waits for its turn is not told as its cause', async () => {
  using watch = new EventLoopWatch(logger);
  watch.goesOn(slow);
  work(300);
  for (let n = 0; n < 10; n++) watch.goesOn(other);
  await expect.poll(() => watch.longTurns).toBe(1);
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({ route: '/slow', requestId: 'r-slow' });
});

test('a short turn is not told', async () => {
  using watch = new EventLoopWatch(logger);
  watch.goesOn(slow);
  work(30);
  await ticked(watch);
  expect(watch.longTurns).toBe(lines.length);
});
