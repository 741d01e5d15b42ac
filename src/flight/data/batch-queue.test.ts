import { expect, test } from 'vitest';
import { BatchQueue } from './batch-queue.ts';

const item = (bytes: number) => ({ bytes });
const mebibyte = 1024 * 1024;

async function isPending(promise: Promise<unknown>): Promise<boolean> {
  let settled = false;
  promise.finally(() => {
    settled = true;
  });
  await new Promise((resolve) => setImmediate(resolve));
  return !settled;
}

test('gives what was added in order, then the end', async () => {
  const queue = new BatchQueue();
  const first = queue.next();
  await queue.add(item(1));
  await queue.add(item(2));
  queue.end();
  expect([await first, await queue.next(), await queue.next()]).toEqual([item(1), item(2), undefined]);
});

test('has room for 64 batches, and for 8 MiB, of which those that are still used count', async () => {
  const queue = new BatchQueue();
  for (let count = 1; count < 64; count++) await queue.add(item(1));
  const more = queue.add(item(1));
  await queue.next();
  expect(await isPending(more)).toBe(true);
  queue.release();
  await more;
  const large = new BatchQueue();
  const waiting = large.add(item(8 * mebibyte));
  expect(await isPending(waiting)).toBe(true);
  await large.next();
  large.release();
  await waiting;
});

test('one that is added alone is waited for until it is released', async () => {
  const queue = new BatchQueue();
  await queue.add(item(1));
  const alone = queue.addAlone(item(1));
  await queue.next();
  queue.release();
  await queue.next();
  expect(await isPending(alone)).toBe(true);
  queue.release();
  await alone;
});

test('a failure is told behind what was added before it', async () => {
  const queue = new BatchQueue();
  await queue.add(item(1));
  queue.fail(new Error('broken off'));
  expect(await queue.next()).toEqual(item(1));
  await expect(queue.next()).rejects.toThrow('broken off');
});

test('nobody waits for a reader that has gone', async () => {
  const queue = new BatchQueue();
  const alone = queue.addAlone(item(1));
  queue.close();
  await alone;
  expect(queue.isClosed).toBe(true);
});
