import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { type CaseReport, reportCase } from './case-report.ts';
import { figures, withFigures } from './performance-report.ts';
import { plotsOf } from './plots.ts';
import { newestOfOneCommit, type Results } from './results.ts';

const usage = { cpuSeconds: 2, peakRssBytes: 1e8 };

function caseOf(name: string, ours: number): CaseReport {
  const details = { requests: 1000, p50Ms: 1, p90Ms: 2, p99Ms: 3, p999Ms: 40 };
  const readings = (value: number) => [{ value, usage, details, bySecond: [{ requests: value, p50Ms: 1, p99Ms: 3 }] }];
  return reportCase(
    {
      name,
      title: 'pages',
      unit: 'requests/s',
      better: 'higher',
      rounds: 1,
      bars: [{ kind: 'ratio', against: 'questdb', atLeast: 2 }],
      prepare: () => Promise.reject(new Error('not run')),
    },
    'yes',
    [
      { who: 'framehold', readings: readings(ours) },
      { who: 'questdb', readings: readings(2000) },
    ],
    [],
  );
}

function resultsOf(at: string, commit: string, cases: readonly CaseReport[], quick = false): Results {
  const machine = { cpu: 'a processor', cores: 2, memoryBytes: 24e9, node: 'v20', loadAverage: 0.1, commit };
  return { at, quick, machine, cases, failures: [] };
}

describe('newestOfOneCommit', () => {
  test('takes each case of the commit that was measured last from its newest run', () => {
    const all = [
      resultsOf('2026-11-18T05', 'new', [caseOf('a', 1), caseOf('b', 1)]),
      resultsOf('2026-11-18T06', 'new', [caseOf('b', 2)]),
      resultsOf('2026-11-18T04', 'old', [caseOf('c', 3)]),
      resultsOf('2026-11-18T07', 'quick', [caseOf('a', 4)], true),
    ];
    const { machine, cases } = newestOfOneCommit(all, { quick: false }) as Results;
    expect(machine.commit).toBe('new');
    expect(cases.map(({ name, rows }) => [name, rows[0]?.value])).toEqual([
      ['b', 2],
      ['a', 1],
    ]);
  });
});

describe('figures', () => {
  test('has a line for each case with values, processor time, bars and what was reached', () => {
    const results = resultsOf('2026-11-18T05:00:00Z', '1234567', [caseOf('cold-pages-large', 3000)]);
    const text = figures(results, ['tpch-cold'], [{ name: 'scans', caption: 'Scans.' }], '../plots');
    expect(text).toContain(
      '| `cold-pages-large` (requests/s) | 3,000 (CPU 2.00 ms a request) | questdb: 2,000 (CPU 2.00 ms a request) | ' +
        '1.50 × the speed of questdb (≥ 2.00) | **no** |',
    );
    for (const words of ['commit `1234567`', '![Scans.](../plots/scans.svg)', 'Not in this run: `tpch-cold`.']) {
      expect(text).toContain(words);
    }
  });

  test('go between the marks of the page, again and again', () => {
    const page = readFileSync(new URL('../../docs/guides/performance.md', import.meta.url), 'utf8');
    const once = withFigures(page, 'figures');
    expect(withFigures(once, 'figures')).toBe(once);
    expect(() => withFigures('no marks', '')).toThrow('no place for figures');
  });
});

test('plots are drawn of the cases that were measured', () => {
  const reports = ['cold-pages-large', 'cold-pages-large-first', 'zipf-pages', 'million-rows'].map((name) =>
    caseOf(name, 3000),
  );
  const plots = plotsOf(reports);
  expect(plots.map(({ name }) => name)).toEqual(['first-minute', 'zipf-pages', 'latency-cold-pages-large', 'scans']);
  for (const { svg } of plots) expect(svg).not.toMatch(/NaN|undefined|Infinity/);
  expect(plotsOf([])).toEqual([]);
});
