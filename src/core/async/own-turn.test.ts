import { expect, test } from 'vitest';
import { ownTurn } from './own-turn.ts';

/** In which turn of the event loop each of them worked. */
async function turnsOf(lanes: readonly string[]): Promise<[lane: string, turn: number][]> {
  let turn = 0;
  let isOver = false;
  const next = (): void => {
    turn++;
    if (!isOver) setImmediate(next);
  };
  setImmediate(next);
  const worked: [string, number][] = [];
  await Promise.all(lanes.map((lane) => ownTurn(lane).then(() => worked.push([lane, turn]))));
  isOver = true;
  return worked;
}

test('each who asks has a turn of the event loop to itself', async () => {
  const turns = (await turnsOf(['a', 'a', 'a', 'b', 'c'])).map(([, turn]) => turn);
  expect(new Set(turns).size).toBe(5);
});

test('one lane does not hold up another', async () => {
  const worked = await turnsOf(['a', 'a', 'a', 'a', 'b']);
  expect(worked.map(([lane]) => lane)).toEqual(['a', 'b', 'a', 'a', 'a']);
});

test('who asks again after its turn has another one', async () => {
  await ownTurn('a');
  await ownTurn('a');
});
