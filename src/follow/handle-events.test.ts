import { expect, test } from 'vitest';
import type { Principal } from '../core/callers/principal.ts';
import type { FrameChange } from '../frames/catalog/frame-changes.ts';
import { Followers } from './followers.ts';
import { handleEvents } from './handle-events.ts';

const ann: Principal = { tenant: 'default', name: 'ann', role: 'read', credential: 'none' } as unknown as Principal;

const append = (rows: number): FrameChange =>
  ({ kind: 'append', handle: 'ticks', version: rows, lineage: 'a', rows, rowsAdded: 1 }) as FrameChange;
const put = { ...append(1), kind: 'put' } as FrameChange;
const drop = { kind: 'drop', handle: 'ticks' } as FrameChange;

async function follow(signal = new AbortController().signal) {
  const followers = new Followers({ maxFollowers: 1, progressIntervalMs: 60_000 });
  let tell: ((change: FrameChange) => void) | undefined;
  const watchAll = async (_: Principal, listener: (change: FrameChange) => void): Promise<Disposable> => {
    tell = listener;
    return { [Symbol.dispose]: () => {} };
  };
  const events = handleEvents({ frames: { watchAll }, followers }, ann, {
    signal,
    lane: '',
    prefix: '',
    onWaiting: () => {},
  });
  expect((await events.next()).value).toBeUndefined();
  const next = async (): Promise<string> => {
    const { value } = await events.next();
    if (value === undefined) return 'progress';
    return value.kind === 'drop' ? 'drop' : `${value.kind} ${value.rows} (+${value.rowsAdded})`;
  };
  const tellAll = (...changes: FrameChange[]): void => {
    for (const each of changes) tell?.(each);
  };
  return { tell: tellAll, next, events, followers };
}

test('appends are told before the drop or put that follows them in the same second', async () => {
  const { tell, next, events, followers } = await follow();
  tell(append(1), append(2), drop);
  expect([await next(), await next()]).toEqual(['append 2 (+2)', 'drop']);
  tell(append(3), put, append(4), drop, put);
  expect([await next(), await next()]).toEqual(['append 3 (+1)', 'put 1 (+1)']);
  tell(put, append(2), append(3), put);
  expect(await next()).toBe('put 1 (+1)');
  await events.return();
  followers[Symbol.dispose]();
});

test('a follower that leaves while it has a change is gone at once', async () => {
  const leaving = new AbortController();
  const { tell, next, events, followers } = await follow(leaving.signal);
  tell(put);
  expect(await next()).toBe('put 1 (+1)');
  leaving.abort(new Error('it left'));
  await expect(events.next()).rejects.toThrow('it left');
  expect(followers.size).toBe(0);
  followers[Symbol.dispose]();
});
