import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryDirectory } from '../../test/support/temporary-directory.ts';
import type { BenchCase } from '../harness/bench-case.ts';
import { commitOf, historyPath } from '../harness/machine.ts';
import { type CaseReport, reportCase } from './case-report.ts';
import { appendHistory, type HistoryLine } from './history.ts';
import type { Results } from './results.ts';

function caseOf(name: string, better: BenchCase['better'], values: Readonly<Record<string, number>>): CaseReport {
  const series = Object.entries(values).map(([who, value]) => ({
    who,
    readings: [{ value, usage: { cpuSeconds: 1, peakRssBytes: 1 }, details: {} }],
  }));
  const prepare = () => Promise.reject(new Error('not run'));
  const unit = better === 'higher' ? 'requests/s' : 's';
  return reportCase({ name, title: name, unit, better, rounds: 1, bars: [], prepare }, 'yes', series, []);
}

function resultsOf(at: string, cases: readonly CaseReport[], quick = false): Results {
  const machine = { cpu: 'x', cores: 2, memoryBytes: 1, node: 'v20.20.2', loadAverage: 0.123456, commit: 'abc1234' };
  return { at, quick, machine, cases, failures: [] };
}

test('a run adds one line, with the ratios of ours to each other contender', async () => {
  await using directory = await temporaryDirectory();
  const path = join(directory.path, 'history.jsonl');
  const pages = caseOf('hot-page', 'higher', { framehold: 7440.4, 'bare-node': 13_416, questdb: 680 });
  const start = caseOf('start', 'lower', { framehold: 0.36666, 'bare node': 0.1337 });
  await appendHistory(resultsOf('2026-11-18T05:00:00.000Z', [pages, start]), path);
  await appendHistory(resultsOf('2026-11-19T05:00:00.000Z', [caseOf('memory', 'lower', { framehold: 900 })]), path);
  const machine = { commit: 'abc1234', cores: 2, node: 'v20.20.2', loadAverage: 0.1235 };
  const cases = {
    'hot-page': { unit: 'requests/s', value: 7440, ratios: { 'bare-node': 0.5546, questdb: 10.94 } },
    start: { unit: 's', value: 0.3667, ratios: { 'bare node': 0.3646 } },
  };
  expect(linesOf(path)).toEqual([
    { at: '2026-11-18T05:00:00.000Z', ...machine, cases },
    { at: '2026-11-19T05:00:00.000Z', ...machine, cases: { memory: { unit: 's', value: 900, ratios: {} } } },
  ]);
});

test('a quick run, and one in which no case ran, add none', async () => {
  await using directory = await temporaryDirectory();
  const path = join(directory.path, 'history.jsonl');
  await writeFile(path, '');
  await appendHistory(resultsOf('2026-11-18', [caseOf('start', 'lower', { framehold: 1 })], true), path);
  await appendHistory(resultsOf('2026-11-18', []), path);
  expect(readFileSync(path, 'utf8')).toBe('');
});

test('the line of a run does not make the commit of the next one dirty, and other changes do', async () => {
  await using directory = await temporaryDirectory();
  const { path } = directory;
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a', ...args], { cwd: path, encoding: 'utf8' });
  git('init', '--quiet', '.');
  await mkdir(join(path, 'bench'));
  for (const name of ['history.jsonl', 'other.ts']) await writeFile(join(path, 'bench', name), '');
  git('add', '.');
  git('commit', '--quiet', '--message', 'first');
  const clean = commitOf(path);
  expect(clean).toMatch(/^[0-9a-f]{7,}$/);
  await writeFile(join(path, historyPath), '{}\n');
  expect(commitOf(path)).toBe(clean);
  await writeFile(join(path, 'bench', 'other.ts'), 'export {};\n');
  expect(commitOf(path)).toBe(`${clean}-dirty`);
});

test('bench/history.jsonl has a whole line for each run', () => {
  const lines = linesOf(new URL(`../../${historyPath}`, import.meta.url));
  for (const { at, commit, cores, cases } of lines) {
    expect(new Date(at).getTime()).toBeGreaterThan(Date.UTC(2026, 10, 1));
    expect(Math.min(cores, Object.keys(cases).length)).toBeGreaterThan(0);
    expect(commit).toMatch(/[0-9a-f]{7}/);
  }
  expect(lines).not.toEqual([]);
});

function linesOf(path: string | URL): HistoryLine[] {
  return readFileSync(path, 'utf8')
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line));
}
