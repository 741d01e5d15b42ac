import type { Locator, Page } from 'playwright-core';
import { ask } from '../../support/http-client.ts';

/** Nobody waits for the end of it. */
export const endless = 'select count(*) from range(1000000) a, range(1000000) b where (a.range * b.range) % 7 = 3';

/** Cancelling ends the request and asks for the end of the statement; whichever is later finds it ended. */
export const alreadyEnded = /status of 404 .*\/queries\//;

export function editor(page: Page): Locator {
  return page.locator('.cm-content');
}

export function result(page: Page): Locator {
  return page.getByRole('region', { name: 'Result' });
}

/** Types into the editor as a person would, in the place of what is there. */
export async function write(page: Page, sql: string): Promise<void> {
  await editor(page).click();
  await page.keyboard.press('Control+a');
  await page.keyboard.insertText(sql);
}

export async function run(page: Page, sql: string): Promise<void> {
  await write(page, sql);
  await page.keyboard.press('Control+Enter');
}

/** The statements that are under way in a server. */
export async function statementsOf(url: string): Promise<readonly { readonly sql: string; readonly engine: string }[]> {
  return ((await ask(`${url}/queries`)).json() as { queries: readonly { sql: string; engine: string }[] }).queries;
}
