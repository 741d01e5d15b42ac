import { expect, it } from 'vitest';
import { auditFindings } from './audit.ts';

it('tells what is shipped from what only builds or tests', () => {
  const vulnerabilities = {
    undici: { name: 'undici', severity: 'high' },
    esbuild: { name: 'esbuild', severity: 'moderate' },
  };
  expect(auditFindings(JSON.stringify({ vulnerabilities }), new Set(['undici', 'jose']))).toEqual({
    shipped: ['undici (high)'],
    tools: ['esbuild (moderate)'],
  });
  expect(auditFindings('{"vulnerabilities":{}}', new Set(['undici']))).toEqual({ shipped: [], tools: [] });
});

it.each(['', '{}', '<html>', '{"error":{"summary":"no network"}}'])('takes «%s» for no report', (json) => {
  expect(() => auditFindings(json, new Set())).toThrow('the registry does not audit');
});
