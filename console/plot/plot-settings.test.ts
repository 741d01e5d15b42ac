import { expect, test } from 'vitest';
import { changedSettings, defaultSettings, fitSettings } from './plot-settings.ts';
import { parseSettings, settingsText } from './settings-link.ts';

const trades = [
  { name: 'id', type: 'LONG' },
  { name: 'symbol', type: 'VARCHAR' },
  { name: 'at', type: 'TIMESTAMP' },
  { name: 'price', type: 'DOUBLE' },
  { name: 'tags', type: 'ARRAY' },
];

test('the first time is x and the first measured number is y', () => {
  expect(defaultSettings(trades)).toMatchObject({ kind: 'line', x: 'at', y: ['price'], series: 'symbol' });
});

test('a text with its numbers are bars, and columns without numbers are counted', () => {
  const sums = [trades[1], { name: 'total', type: 'LONG' }] as typeof trades;
  expect(defaultSettings(sums)).toMatchObject({ kind: 'bars', x: 'symbol', y: ['total'] });
  expect(defaultSettings(trades.slice(1, 2))).toMatchObject({ kind: 'bars', x: 'symbol', y: [] });
  expect(defaultSettings([])).toMatchObject({ kind: 'bars', x: '', y: [] });
});

test('settings survive other columns as far as these have them', () => {
  const chosen = { ...defaultSettings(trades), y: ['price', 'id'], series: 'symbol', logY: true };
  const fewer = trades.filter(({ name }) => name !== 'id');
  expect(fitSettings(chosen, fewer)).toEqual({ ...chosen, y: ['price'] });
  const others = [
    { name: 'day', type: 'DATE' },
    { name: 'n', type: 'INT' },
  ];
  expect(fitSettings(chosen, others)).toMatchObject({ x: 'day', y: ['n'], series: '', logY: true });
});

test('a kind that needs other columns gets them', () => {
  const line = defaultSettings(trades);
  expect(changedSettings(line, { kind: 'histogram' }, trades)).toMatchObject({ kind: 'histogram', x: 'price' });
  const histogram = changedSettings(line, { kind: 'histogram' }, trades);
  expect(changedSettings(histogram, { kind: 'line' }, trades)).toEqual(line);
  const bars = changedSettings(line, { x: 'symbol' }, trades);
  expect(bars).toMatchObject({ kind: 'bars', x: 'symbol' });
  expect(changedSettings(bars, { kind: 'line' }, trades)).toMatchObject({ kind: 'line', x: 'at' });
});

test('settings come back from a link, and nonsense is no setting', () => {
  const chosen = { ...defaultSettings(trades), series: 'symbol', zone: 'local' } as const;
  expect(parseSettings(settingsText(chosen))).toEqual(chosen);
  expect([parseSettings('{'), parseSettings('null'), parseSettings('{"kind":"pie"}')]).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
});
