import { describe, expect, test } from 'vitest';
import { Ledger, type Operation, type Verb } from './ledger.ts';
import { rowsWritten, writesIn } from './written-rows.ts';

const operation = (verb: Verb, n: number): Operation => ({ handle: 'h', verb, n });

describe('the ledger', () => {
  test('holds the server to what it acknowledged', () => {
    const ledger = new Ledger();
    ledger.note(operation('create', 1), 'acknowledged');
    ledger.note(operation('append', 2), 'acknowledged');
    ledger.settle('h', [1, 2]);
    expect(() => ledger.settle('h', [1])).toThrow('h should hold [1 2], but holds [1]');
    expect(() => ledger.settle('h', undefined)).toThrow('no frame');
    expect(() => ledger.settle('h', [1, 2, 2])).toThrow('[1 2 2]');
  });

  test('lets nothing come of what was refused', () => {
    const ledger = new Ledger();
    ledger.note(operation('create', 1), 'refused');
    expect(() => ledger.settle('h', [1])).toThrow('no frame');
  });

  test('lets a write without an answer be there or not, and then holds to what was seen', () => {
    const ledger = new Ledger();
    ledger.note(operation('create', 1), 'acknowledged');
    ledger.note(operation('overwrite', 2), 'unknown');
    expect(() => ledger.settle('h', [1, 2])).toThrow('[1] or [2]');
    ledger.settle('h', [2]);
    expect(() => ledger.settle('h', [1])).toThrow();
  });

  test('records all contents of a time, and none of before or after', () => {
    const ledger = new Ledger();
    ledger.note(operation('create', 1), 'acknowledged');
    ledger.note(operation('append', 2), 'acknowledged');
    const recording = ledger.record();
    ledger.note(operation('drop', 3), 'unknown');
    ledger.note({ ...operation('create', 4), handle: 'new' }, 'acknowledged');
    recording.end();
    ledger.note(operation('overwrite', 5), 'acknowledged');
    for (const seen of [[1, 2], undefined]) recording.assertSeen('h', seen);
    for (const seen of [[4], undefined]) recording.assertSeen('new', seen);
    for (const missed of [[1], [5]]) expect(() => recording.assertSeen('h', missed)).toThrow('but the copy holds');
  });

  test('knows that a frame was not there when one was made', () => {
    const ledger = new Ledger();
    ledger.note(operation('create', 1), 'unknown');
    ledger.note(operation('create', 2), 'acknowledged');
    expect(() => ledger.settle('h', [1])).toThrow('[2]');
    ledger.settle('h', [2]);
  });
});

describe('the rows of writes', () => {
  const rows = [3, 17, 4].flatMap(rowsWritten).map(({ n, i, text }) => [n, i, text]);

  test('tell which writes they are', () => {
    expect(writesIn(rows)).toEqual([3, 17, 4]);
    expect(writesIn([])).toEqual([]);
  });

  test.each([
    ['miss one', rows.slice(0, -1)],
    ['are out of order', [...rows.slice(1), ...rows.slice(0, 1)]],
    ['hold another value', rows.with(5, [3, 5, 'other'])],
    ['repeat one', [...rows.slice(0, 1), ...rows]],
  ])('that %s are not taken', (_, changed) => {
    expect(() => writesIn(changed)).toThrow(/should be row/);
  });
});
