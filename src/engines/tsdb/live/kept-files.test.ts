import { expect, test, vi } from 'vitest';
import type { LiveFile } from '../../../core/sql/live-tables.ts';
import { KeptFiles } from './kept-files.ts';

const never = new AbortController().signal;

function fileOf(path: string): LiveFile & { readonly dispose: ReturnType<typeof vi.fn> } {
  const dispose = vi.fn(async () => {});
  return { path, rows: 1, bytes: 1, readAt: new Date(), dispose, [Symbol.asyncDispose]: dispose };
}

test('a file is loaded once while it is kept, and goes when its time is over and its last reader has left', async () => {
  vi.useFakeTimers();
  try {
    await using files = new KeptFiles(1000);
    const first = fileOf('a');
    const load = vi.fn(async () => first);
    const [one, two] = await Promise.all([files.use('k', never, load), files.use('k', never, load)]);
    expect(load).toHaveBeenCalledTimes(1);
    await one[Symbol.asyncDispose]();
    await one[Symbol.asyncDispose]();
    await vi.advanceTimersByTimeAsync(1001);
    expect(first.dispose).not.toHaveBeenCalled();
    const second = fileOf('b');
    const three = await files.use('k', never, async () => second);
    expect(three.path).toBe('b');
    await two[Symbol.asyncDispose]();
    expect(first.dispose).toHaveBeenCalledTimes(1);
    await three[Symbol.asyncDispose]();
    expect(second.dispose).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1001);
    expect(second.dispose).toHaveBeenCalledTimes(1);
  } finally {
    vi.useRealTimers();
  }
});

test('one of two who wait may leave; where both do, the load is stopped', async () => {
  await using files = new KeptFiles(60_000);
  let given: AbortSignal = never;
  let finish = (_: LiveFile): void => {};
  const load = (signal: AbortSignal): Promise<LiveFile> => {
    given = signal;
    return new Promise((resolve, reject) => {
      finish = resolve;
      signal.addEventListener('abort', () => reject(signal.reason));
    });
  };
  const leaving = new AbortController();
  const left = files.use('k', leaving.signal, load);
  const staying = files.use('k', never, load);
  leaving.abort(new Error('gone'));
  await expect(left).rejects.toThrow('gone');
  expect(given.aborted).toBe(false);
  const file = fileOf('a');
  finish(file);
  expect((await staying).path).toBe('a');

  const alone = new AbortController();
  const other = files.use('other', alone.signal, load);
  alone.abort(new Error('gone'));
  await expect(other).rejects.toThrow('gone');
  expect(given.aborted).toBe(true);
});

test('a load that failed is not kept, and without a time nothing is', async () => {
  await using files = new KeptFiles(60_000);
  await expect(files.use('k', never, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  const file = fileOf('a');
  expect((await files.use('k', never, async () => file)).path).toBe('a');

  await using none = new KeptFiles(0);
  const load = vi.fn(async () => fileOf('b'));
  for (let times = 0; times < 2; times++) {
    await using _ = await none.use('k', never, load);
  }
  expect(load).toHaveBeenCalledTimes(2);
});
