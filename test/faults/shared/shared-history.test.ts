import { expect, test } from 'vitest';
import { SharedHistory, type SharedRead, type SharedWrite } from './shared-history.ts';

const at = (verb: SharedWrite['verb'], n: number, version: number, [beganAt, endedAt]: readonly [number, number]) => {
  return { handle: 'h', verb, n, server: 's1', beganAt, endedAt, outcome: 'acknowledged', version } as SharedWrite;
};
const read = (content: SharedRead['content'], beganAt: number, server = 's2'): SharedRead => {
  return { handle: 'h', server, beganAt, endedAt: beganAt + 1, content };
};

function historyOf(...writes: SharedWrite[]): SharedHistory {
  const history = new SharedHistory(1000);
  for (const write of writes) history.begin(write);
  return history;
}

test('holds every server to what was acknowledged a second before, and the same server at once', () => {
  const history = historyOf(at('create', 1, 1, [0, 10]), at('append', 2, 2, [20, 30]));
  history.assertRead(read([1], 1000));
  expect(() => history.assertRead(read([1], 1040))).toThrow('shows what was acknowledged before');
  expect(() => history.assertRead(read([1], 40, 's1'))).toThrow('shows what was acknowledged before');
  expect(() => history.assertRead(read(undefined, 1040))).toThrow('is there after write');
});

test('takes no content that never was', () => {
  const history = historyOf(at('create', 1, 1, [0, 10]), at('append', 2, 2, [20, 30]), at('append', 3, 3, [40, 50]));
  expect(() => history.assertRead(read([1, 3], 60))).toThrow('all that was acknowledged in between');
  expect(() => history.assertRead(read([2, 1], 60))).toThrow();
  expect(() => history.assertRead(read([1, 2, 2], 60))).toThrow('each write once');
  expect(() => history.assertRead(read([1, 9], 60))).toThrow('holds what was written');
  history.assertRead(read([1, 2, 3], 2000));
});

test('lets a drop, and nothing else, take a frame away', () => {
  const history = historyOf(at('create', 1, 1, [0, 10]), at('drop', 2, 1, [20, 30]));
  history.assertRead(read(undefined, 2000));
  expect(() => history.assertRead(read([1], 2000))).toThrow('shows what was acknowledged before');
});

test('takes versions that go up, each once', () => {
  expect(() => historyOf(at('create', 1, 1, [0, 10]), at('overwrite', 2, 1, [5, 15])).assertVersions()).toThrow('once');
  expect(() => historyOf(at('create', 1, 2, [0, 10]), at('overwrite', 2, 1, [20, 30])).assertVersions()).toThrow(
    'go up',
  );
});
