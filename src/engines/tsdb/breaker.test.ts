import { beforeEach, expect, test } from 'vitest';
import { AppError } from '../../core/errors/app-error.ts';
import { Breaker } from './breaker.ts';

const down = new AppError('tsdb_unreachable', 'refused', { hint: 'look' });

let now = 0;
let events: string[] = [];
let breaker: Breaker;

beforeEach(() => {
  now = 0;
  events = [];
  breaker = new Breaker({
    pauseMs: 1000,
    now: () => now,
    onOpen: () => events.push('open'),
    onClose: () => events.push('close'),
  });
});

test('after a failure everyone fails at once with the same error and a time to come back', () => {
  breaker.enter();
  breaker.failed(down);
  expect(() => breaker.enter()).toThrow(
    expect.objectContaining({ code: 'tsdb_unreachable', message: 'refused', hint: 'look', retryAfterSeconds: 1 }),
  );
  expect(() => breaker.check()).toThrow('refused');
});

test('after the pause one may try, and the others still fail at once', () => {
  breaker.failed(down);
  now = 1000;
  breaker.check();
  breaker.enter();
  expect(() => breaker.enter()).toThrow('refused');
});

test('an attempt that connects lets everyone through', () => {
  breaker.failed(down);
  now = 1000;
  breaker.enter();
  breaker.connected();
  breaker.enter();
  breaker.enter();
  expect(events).toEqual(['open', 'close']);
});

test('an attempt that fails begins another pause and is not announced again', () => {
  breaker.failed(down);
  now = 1000;
  breaker.enter();
  breaker.failed(down);
  now = 1999;
  expect(() => breaker.enter()).toThrow('refused');
  now = 2000;
  breaker.enter();
  expect(events).toEqual(['open']);
});

test('an attempt whose caller left makes room for the next one at once', () => {
  breaker.failed(down);
  now = 1000;
  breaker.enter();
  breaker.abandoned();
  breaker.enter();
  expect(() => breaker.enter()).toThrow('refused');
});
