import { expect, test } from 'vitest';
import { jsonParts } from './send-large-json.ts';

const long = `${'x'.repeat(16_383)}🦆"\\\n${'ü🦆'.repeat(20_000)}\ud800`;

test.each([
  [null],
  [1.5],
  ['a"b'],
  [[]],
  [{}],
  [{ a: undefined, b: [], c: {}, d: [{}, null, 'x', [1, [true]]], e: { f: { g: long } }, ü: long }],
  [
    {
      columns: [
        { name: 'n'.repeat(200), type: 'LONG' },
        { name: 'a', type: 'LONG', dim: undefined },
      ],
    },
  ],
])('the parts of %.30j are small, and together what JSON.stringify gives', (value) => {
  const parts = [...jsonParts(value)];
  expect(parts.join('')).toBe(JSON.stringify(value));
  expect(Math.max(...parts.map(({ length }) => length))).toBeLessThan(100_000);
});

test('lists are read as the parts are taken', () => {
  let read = 0;
  const list = {
    *[Symbol.iterator]() {
      for (; read < 10; read++) yield read;
    },
  };
  const parts = jsonParts({ list, next: null });
  for (let n = 0; n < 4; n++) parts.next();
  expect(read).toBeLessThan(2);
  for (const _ of parts);
  expect(read).toBe(10);
});
