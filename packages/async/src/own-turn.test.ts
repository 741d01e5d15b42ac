import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { ownTurn, sharedTurn } from './own-turn.ts';

/** A clock of the test's own: on a busy machine a turn of the real one may last longer than its work. */
let nowMs = 0;
beforeAll(() => {
  vi.spyOn(performance, 'now').mockImplementation(() => nowMs);
});
afterAll(() => {
  vi.restoreAllMocks();
});

function holdFor(ms: number): void {
  nowMs += ms;
}

/** In which turn of the event loop each of them worked. */
async function turnsOf(lanes: readonly string[], workMs = 0): Promise<[lane: string, turn: number][]> {
  let turn = 0;
  let isOver = false;
  const next = (): void => {
    turn++;
    if (!isOver) setImmediate(next);
  };
  setImmediate(next);
  const worked: [string, number][] = [];
  const work = (lane: string): void => {
    worked.push([lane, turn]);
    holdFor(workMs);
  };
  await Promise.all(lanes.map((lane) => ownTurn(lane).then(() => work(lane))));
  isOver = true;
  return worked;
}

const longMs = 11;

test('those who work for long have a turn of the event loop each', async () => {
  const turns = (await turnsOf(['a', 'a', 'a', 'b', 'c'], longMs)).map(([, turn]) => turn);
  expect(new Set(turns).size).toBe(5);
});

test('those who do a bit share one', async () => {
  const turns = (await turnsOf(['a', 'a', 'a', 'b', 'c'])).map(([, turn]) => turn);
  expect(new Set(turns).size).toBe(1);
});

test('one lane does not hold up another', async () => {
  const worked = await turnsOf(['a', 'a', 'a', 'a', 'b']);
  expect(worked.map(([lane]) => lane)).toEqual(['a', 'b', 'a', 'a', 'a']);
});

test('who asks again after its turn has another one', async () => {
  await ownTurn('a');
  await ownTurn('a');
});

test('of many small pieces of work in one turn all but the first wait, and another lane is served before the rest', async () => {
  const served: string[] = [];
  const waits: Promise<void>[] = [];
  const work = (lane: string): void => {
    const turn = sharedTurn(() => lane);
    if (turn === undefined) served.push(lane);
    else waits.push(turn.then(() => void served.push(lane)));
    holdFor(1);
  };
  for (let n = 0; n < 100; n++) work('a');
  work('b');
  expect(served.length).toBeLessThan(40);
  expect(served).not.toContain('b');
  const atOnce = served.length;
  await Promise.all(waits);
  expect(served.indexOf('b')).toBeLessThanOrEqual(atOnce + 1);
  expect(served).toHaveLength(101);
});

test('a small piece of work in a turn that is young waits for nobody', async () => {
  // The one before may have ended within its own.
  await new Promise(setImmediate);
  for (let n = 0; n < 100; n++) {
    expect(sharedTurn(() => 'a')).toBeUndefined();
    await new Promise(setImmediate);
  }
});
