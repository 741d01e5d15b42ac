import { expect, test } from 'vitest';
import type { PlotAnswer } from './plot-answer.ts';
import { defaultSettings } from './plot-settings.ts';
import { plotShapes, xExtent, yExtent } from './plot-shapes.ts';
import { plotSvg } from './plot-svg.ts';
import { plotCsv, shownText, summaryText, timeText } from './plot-text.ts';

const columns = [
  { name: 'at', type: 'TIMESTAMP' },
  { name: '=price', type: 'DOUBLE' },
];
const settings = defaultSettings(columns);
const us = Date.UTC(2026, 0, 1) * 1000;
const line: PlotAnswer = {
  kind: 'line',
  x: { column: 'at', type: 'time', from: us, to: us + 2e6 },
  series: [{ column: '=price', group: null, x: [us, us + 1e6, us + 2e6], y: [1, null, 3] }],
  rows: 10_000_000,
  points: 4000,
  complete: false,
  cut: false,
  series_count: 1,
};

test.each([
  [us, '2026-01-01 00:00:00'],
  [us + 1, '2026-01-01 00:00:00.000001'],
  [us + 1_500_000, '2026-01-01 00:00:01.5'],
  [-1, '1969-12-31 23:59:59.999999'],
])('%d µs are shown with every digit', (value, text) => {
  expect(timeText(value, 'utc')).toBe(text);
});

test('a plot says how much of the rows it shows', () => {
  expect(shownText(line)).toBe('4,000 of 10,000,000 points');
  expect(shownText({ ...line, rows: 3, points: 3, complete: true })).toBe('all 3 rows');
  expect(shownText({ ...line, cut: true, series_count: 9 })).toBe(
    '4,000 of 10,000,000 points · 8 series left out · of the first rows only',
  );
  const bars: PlotAnswer = {
    ...line,
    kind: 'bars',
    rows: 9,
    points: 1,
    series: [{ column: null, group: null, x: ['a'], y: [1] }],
    category_count: 9,
  };
  expect(shownText(bars)).toBe('1 bars of 9 rows · 8 values of x left out');
  expect(summaryText(line, settings)).toContain('=price between 1 and 3');
});

test('no cell of the CSV is a formula', () => {
  expect(plotCsv(line, settings).split('\r\n').slice(0, 2)).toEqual([
    'at,column,value',
    "2026-01-01 00:00:00,'=price,1",
  ]);
});

test('shapes leave out what has no value', () => {
  const scale = { x: (value: number) => (value - us) / 1e6, y: (value: number) => 10 - value, top: 0, bottom: 10 };
  expect(plotShapes(line, scale, ['red'])).toEqual([{ kind: 'line', points: [0, 9, 2, 7], colour: 'red' }]);
  const bars: PlotAnswer = {
    ...line,
    kind: 'bars',
    step: 2e6,
    series: [{ column: null, group: null, x: [us], y: [4] }],
  };
  const [boxes] = plotShapes(bars, scale, ['red']);
  expect(boxes).toMatchObject({ kind: 'boxes', boxes: [[0, 6, 2, 4]] });
  expect([xExtent(bars), yExtent(bars, false)?.[0]]).toEqual([[us, us + 2e6], 0]);
});

test('names in an SVG are text', () => {
  const svg = plotSvg({
    ...{ width: 10, height: 10, frame: [0, 0, 10, 10], shapes: [], xTicks: [], yTicks: [] },
    title: '<script>',
    legend: [{ name: '"><img onerror=x>', colour: 'red' }],
    colours: { surface: 'white', text: 'black', grid: 'gray' },
  });
  expect(svg).not.toMatch(/<script|<img/);
});

test('values that are NaN or infinite are told, as they cannot be drawn', () => {
  expect(shownText({ ...line, not_finite: 2 })).toBe(
    '4,000 of 10,000,000 points · 2 values NaN or infinite, not drawn',
  );
  expect(shownText({ ...line, not_finite: 0 })).toBe('4,000 of 10,000,000 points');
});
