import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { commands } from '../../src/cli/commands.ts';
import { clientTables } from '../../src/cli/framework/command-tables.ts';
import { cliPage } from './cli-page.ts';

const page = readFileSync(new URL('../../docs/reference/cli.md', import.meta.url), 'utf8');

it('docs/reference/cli.md is what the tables make (else: node scripts/generate-docs.mjs)', () => {
  expect(page).toBe(cliPage());
});

it.each(Object.keys(commands))('%s stands on the page', (name) => {
  expect(page).toContain(`\`${name}\``);
});

it.each(Object.entries(clientTables))('%s --help names every flag', async (name, { flags }) => {
  const help = (await commands[name]?.details()) ?? '';
  for (const flag of Object.keys(flags)) {
    expect(help).toContain(`--${flag}`);
    expect(page).toContain(`--${flag}`);
  }
});
