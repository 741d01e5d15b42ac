import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { metricTable } from '../../src/server/metric-table.ts';
import { metricsPage } from './metrics-page.ts';

it('docs/reference/metrics.md is what the table makes (else: node scripts/generate-docs.mjs)', () => {
  expect(readFileSync(new URL('../../docs/reference/metrics.md', import.meta.url), 'utf8')).toBe(metricsPage());
});

it('every metric has a name of its own', () => {
  expect(new Set(metricTable.map(({ name }) => name)).size).toBe(metricTable.length);
});
