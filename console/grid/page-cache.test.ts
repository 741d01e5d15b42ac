import { signal } from '@preact/signals';
import { expect, it } from 'vitest';
import { FrameholdError } from '#client/errors.ts';
import type { Cell, GridSource } from './grid-source.ts';
import { PageCache } from './page-cache.ts';

interface Request {
  readonly from: number;
  readonly to: number;
  readonly signal: AbortSignal;
  answer(): void;
  fail(error: unknown): void;
}

function openCache(rowCount: number) {
  const requests: Request[] = [];
  const count = signal(rowCount);
  const source: GridSource = {
    key: 'a',
    columns: [{ name: 'n', type: 'LONG' }],
    rowCount: count,
    rows: (from, to, abort) =>
      new Promise((resolve, reject) => {
        const rows: Cell[][] = Array.from({ length: to - from }, (_, index) => [String(from + index)]);
        abort.addEventListener('abort', () => reject(abort.reason));
        requests.push({ from, to, signal: abort, answer: () => resolve(rows), fail: reject });
      }),
  };
  const errors: unknown[] = [];
  const cache = new PageCache(source, { onRows: () => {}, onError: (error) => errors.push(error) });
  const settle = async (): Promise<void> => {
    for (let turn = 0; turn < 10; turn++) await Promise.resolve();
  };
  return { cache, requests, count, errors, settle };
}

it('asks for the page that is shown, and when it is there for its neighbours', async () => {
  const { cache, requests, settle } = openCache(10_000_000);
  cache.want(5_000_010, 5_000_040);
  expect(requests.map(({ from, to }) => [from, to])).toEqual([[5_000_000, 5_000_200]]);
  requests[0]?.answer();
  await settle();
  expect(requests.slice(1).map(({ from, to }) => [from, to])).toEqual([
    [5_000_200, 5_000_400],
    [4_999_800, 5_000_000],
  ]);
});

it('has three requests under way at most, and gives up those that were scrolled past', async () => {
  const { cache, requests, settle } = openCache(10_000_000);
  cache.want(0, 1000);
  expect(requests).toHaveLength(3);
  cache.want(1_000_000, 1_000_030);
  await settle();
  cache.want(9_000_000, 9_000_030);
  await settle();
  const alive = requests.filter((request) => !request.signal.aborted);
  expect(alive.map(({ from }) => from)).toEqual([9_000_000]);
  for (const request of alive) request.answer();
  await settle();
  expect(cache.row(9_000_017)).toEqual(['9000017']);
  expect(cache.row(17)).toBeUndefined();
});

it('asks again for a last page that has grown, and shows the old rows meanwhile', async () => {
  const { cache, requests, count, settle } = openCache(250);
  cache.want(200, 250);
  for (const request of requests) request.answer();
  await settle();
  count.value = 300;
  cache.want(200, 260);
  expect(cache.row(249)).toEqual(['249']);
  expect(requests.at(-1)).toMatchObject({ from: 200, to: 300 });
});

it('does not repeat a request that failed before it is told to', async () => {
  const { cache, requests, errors, settle } = openCache(100);
  cache.want(0, 30);
  requests[0]?.fail(new FrameholdError('frame_changed', 'another version', { status: 409 }));
  await settle();
  cache.want(5, 35);
  expect(requests).toHaveLength(1);
  expect(errors).toHaveLength(1);
  cache.retry();
  expect(requests).toHaveLength(2);
});

it('asks a wide table only for the blocks of columns that are seen, and leaves the cells of others out', async () => {
  const asked: (readonly [block: number, from: number, to: number])[] = [];
  const source: GridSource = {
    key: 'wide',
    columns: Array.from({ length: 250 }, (_, at) => ({ name: `c${at}`, type: 'LONG' })),
    rowCount: signal(1000),
    rows: () => Promise.reject(new Error('nobody asks for whole rows')),
    blocks: {
      columns: 100,
      rows: async (block, from, to) => {
        asked.push([block, from, to]);
        const columns = Array.from({ length: block === 2 ? 50 : 100 }, (_, at) => block * 100 + at);
        return Array.from({ length: to - from }, (_, row) => columns.map((column) => `${from + row}/${column}`));
      },
    },
  };
  const cache = new PageCache(source, { onRows: () => {}, onError: () => {} });
  cache.want(300, 320, 190, 205);
  await expect.poll(() => asked.length).toBe(6);
  expect(asked.slice(0, 2)).toEqual([
    [1, 200, 400],
    [2, 200, 400],
  ]);
  const row = cache.row(310) ?? [];
  expect([row[99], row[100], row[249], row.length]).toEqual([undefined, '310/100', '310/249', 250]);
  cache.dispose();
});

it('forgets pages of long texts before they fill the memory', async () => {
  const text = 'x'.repeat(200_000);
  const source: GridSource = {
    key: 'long',
    columns: [{ name: 'text', type: 'VARCHAR' }],
    rowCount: signal(10_000),
    // The same text many times: the test itself must not fill the memory.
    rows: async (from, to) => Array.from({ length: to - from }, () => [text]),
  };
  const cache = new PageCache(source, { onRows: () => {}, onError: () => {} });
  for (const row of [0, 2000, 4000, 6000]) {
    cache.want(row, row + 30);
    await expect.poll(() => cache.row(row + 200)).toBeDefined();
  }
  expect(cache.row(0)).toBeUndefined();
  expect(cache.row(6000)).toEqual([text]);
  cache.dispose();
});
