import { expect, test } from 'vitest';
import { Slots } from './slots.ts';

const patient = { signal: new AbortController().signal, timeoutMs: 60_000 };

test('those who wait get a place in the order of asking', async () => {
  const slots = new Slots({ max: 1, maxWaiting: 2 });
  const release = await slots.acquire(patient);
  const order: string[] = [];
  const first = slots.acquire(patient).then((next) => {
    order.push('first');
    next();
  });
  const second = slots.acquire(patient).then(() => order.push('second'));
  release();
  await Promise.all([first, second]);
  expect(order).toEqual(['first', 'second']);
});

test('one more than places and queue together is refused with a time to come back', async () => {
  const slots = new Slots({ max: 1, maxWaiting: 1 });
  await slots.acquire(patient);
  void slots.acquire(patient);
  await expect(slots.acquire(patient)).rejects.toMatchObject({ code: 'overloaded', retryAfterSeconds: 1 });
});

test('without a queue the refusal comes at once', async () => {
  const slots = new Slots({ max: 1, maxWaiting: 0 });
  await slots.acquire(patient);
  await expect(slots.acquire(patient)).rejects.toMatchObject({ code: 'overloaded' });
});

test('who waits too long is refused and leaves the queue', async () => {
  const slots = new Slots({ max: 1, maxWaiting: 1 });
  const release = await slots.acquire(patient);
  await expect(slots.acquire({ ...patient, timeoutMs: 1 })).rejects.toMatchObject({ code: 'overloaded' });
  const next = slots.acquire(patient);
  release();
  await next;
});

test('who goes away while waiting leaves the queue and takes no place', async () => {
  const slots = new Slots({ max: 1, maxWaiting: 1 });
  const release = await slots.acquire(patient);
  const controller = new AbortController();
  const waiting = slots.acquire({ ...patient, signal: controller.signal });
  controller.abort(new Error('client left'));
  await expect(waiting).rejects.toThrow('client left');
  release();
  await slots.acquire(patient);
});

test('a place given back twice is one place', async () => {
  const slots = new Slots({ max: 1, maxWaiting: 0 });
  const release = await slots.acquire(patient);
  release();
  release();
  await slots.acquire(patient);
  await expect(slots.acquire(patient)).rejects.toMatchObject({ code: 'overloaded' });
});
