import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { AxeResults } from 'axe-core';
import type { Page } from 'playwright-core';

const source = readFile(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8');

/** What axe-core finds wrong with a page as it is now, or with the dialog that is open, one line an element. */
export async function violationsOf(page: Page): Promise<readonly string[]> {
  // Evaluated by the debugger, which the policy of the page does not bind.
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(await source);
  // What is behind a dialog is inert. What is right needs no selectors: those take most of the time.
  const { violations } = await page.evaluate<AxeResults>(
    `axe.run(document.querySelector('dialog[open]') ?? document, { resultTypes: ['violations'] })`,
  );
  return violations.flatMap(({ id, help, nodes }) => nodes.map(({ target }) => `${id}: ${help}: ${target.join(' ')}`));
}
