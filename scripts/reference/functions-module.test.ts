import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { functionsModule } from './functions-module.ts';

it('the functions that the console completes are those that the gates allow', () => {
  const written = readFileSync(new URL('../../console/sql/editor/functions.ts', import.meta.url), 'utf8');
  expect(written, 'run node scripts/generate-docs.mjs').toBe(functionsModule());
});
