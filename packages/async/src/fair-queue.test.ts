import { expect, test } from 'vitest';
import { FairQueue } from './fair-queue.ts';

/** Callers by name, who wait in a lane; `served` has the names in the order in which they were served. */
function queueOf(callers: readonly (readonly [name: string, lane: string])[]) {
  const queue = new FairQueue<string>();
  const served: string[] = [];
  const wait = (name: string, lane: string, signal?: AbortSignal): Promise<void> =>
    queue.wait({ lane, signal }).then((value) => {
      served.push(`${name} ${value}`);
    });
  const waits = callers.map(([name, lane]) => wait(name, lane));
  return { queue, served, wait, waits };
}

test('lanes take turns, each in its own order', async () => {
  const callers = [
    ['a1', 'a'],
    ['a2', 'a'],
    ['a3', 'a'],
    ['b1', 'b'],
  ] as const;
  const { queue, served, waits } = queueOf(callers);
  expect(['1', '2', '3', '4', '5'].map((value) => queue.serve(value))).toEqual([true, true, true, true, false]);
  await Promise.all(waits);
  expect(served).toEqual(['a1 1', 'b1 2', 'a2 3', 'a3 4']);
});

test('a lane that comes back waits behind those that were there', async () => {
  const { queue, served, wait, waits } = queueOf([
    ['a1', 'a'],
    ['b1', 'b'],
  ]);
  queue.serve('1');
  waits.push(wait('a2', 'a'));
  queue.serve('2');
  queue.serve('3');
  await Promise.all(waits);
  expect(served).toEqual(['a1 1', 'b1 2', 'a2 3']);
});

test('a client with many connections has no more turns than one with a single connection', async () => {
  const heavy = [1, 2, 3, 4, 5].map((n) => [`heavy${n}`, `10.0.0.1#${n}`] as const);
  const light = [1, 2].map((n) => [`light${n}`, '10.0.0.2#1'] as const);
  const { queue, served, waits } = queueOf([...heavy, ...light]);
  expect(queue.size).toBe(7);
  while (queue.serve('')) {}
  await Promise.all(waits);
  const order = served.map((name) => name.trim());
  expect(order).toEqual(['heavy1', 'light1', 'heavy2', 'light2', 'heavy3', 'heavy4', 'heavy5']);
  expect([queue.size, queue.nextUnits]).toEqual([0, undefined]);
});

test('a caller that gives up has no turn, and leaves nothing behind', async () => {
  const { queue, served, wait } = queueOf([]);
  const controller = new AbortController();
  const givenUp = wait('a1', 'a#1', controller.signal);
  const waiting = wait('a2', 'a#2');
  controller.abort(new Error('gone'));
  await expect(givenUp).rejects.toThrow('gone');
  expect([queue.size, queue.serve('1'), queue.serve('2')]).toEqual([1, true, false]);
  await waiting;
  expect(served).toEqual(['a2 1']);
});

test('a caller that was served does not hear of an abort that comes behind', async () => {
  const { queue, served, wait } = queueOf([]);
  const controller = new AbortController();
  const waiting = wait('a1', 'a', controller.signal);
  queue.serve('1');
  controller.abort();
  await waiting;
  expect(served).toEqual(['a1 1']);
});

test('a refusal reaches every caller', async () => {
  const { queue, waits } = queueOf([
    ['a1', 'a'],
    ['b1', 'b'],
  ]);
  queue.refuseAll(new Error('closed'));
  expect(queue.size).toBe(0);
  for (const wait of waits) await expect(wait).rejects.toThrow('closed');
});

test('tenants take turns, then the callers of each, then their connections', async () => {
  const { queue, served, waits } = queueOf([
    ['a-ann-1a', 'a#ann#1'],
    ['a-ann-1b', 'a#ann#1'],
    ['a-ann-2', 'a#ann#2'],
    ['a-bob-3', 'a#bob#3'],
    ['b-eve-4a', 'b#eve#4'],
    ['b-eve-4b', 'b#eve#4'],
  ]);
  while (queue.serve('')) {}
  await Promise.all(waits);
  expect(served.map((name) => name.trim())).toEqual([
    'a-ann-1a',
    'b-eve-4a',
    'a-bob-3',
    'b-eve-4b',
    'a-ann-2',
    'a-ann-1b',
  ]);
});
