import { expect, test } from 'vitest';
import { FairPlaces } from './fair-places.ts';

const never = new AbortController().signal;

test('clients take turns, however many connections one of them has', async () => {
  const places = new FairPlaces({ max: 1, maxWaiting: 10, engine: 'spark' });
  const free = await places.take('10.0.0.1#0', never);
  const order: string[] = [];
  const waiting = ['10.0.0.1#1', '10.0.0.1#2', '10.0.0.1#3', '10.0.0.2#1'].map(async (lane) => {
    const freeOwn = await places.take(lane, never);
    order.push(lane);
    freeOwn();
  });
  free();
  await Promise.all(waiting);
  expect(order).toEqual(['10.0.0.1#1', '10.0.0.2#1', '10.0.0.1#2', '10.0.0.1#3']);
});

test('who gives up waiting takes no place, and what is too much is refused', async () => {
  const places = new FairPlaces({ max: 1, maxWaiting: 1, engine: 'spark' });
  const free = await places.take('a', never);
  const abort = new AbortController();
  const givenUp = places.take('b', abort.signal);
  await expect(places.take('c', never)).rejects.toMatchObject({ code: 'overloaded' });
  abort.abort();
  await expect(givenUp).rejects.toMatchObject({ name: 'AbortError' });
  const next = places.take('c', never);
  free();
  free();
  (await next)();
  (await places.take('d', never))();
});
