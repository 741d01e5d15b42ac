import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { scenarios } from './scenarios.ts';

const guide = readFileSync(new URL('../../docs/guides/reliability.md', import.meta.url), 'utf8');
const shown = (count: number): string => count.toLocaleString('en-US');

test('every scenario has an id of its own', () => {
  const ids = scenarios.map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
});

test('the guide has every scenario with its promise and its sizes, in this order, and no other', () => {
  const rows = guide.split('\n').filter((line) => /^\| [A-Z][\w-]* \|/.test(line));
  const promises = rows.map((row) => row.split(' | ').slice(0, 4).join(' | '));
  expect(promises).toEqual(
    scenarios.map(({ id, promise, rounds }) => `| ${id} | ${promise} | ${shown(rounds.ci)} | ${shown(rounds.release)}`),
  );
});
