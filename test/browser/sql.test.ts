import type { Page } from 'playwright-core';
import { expect, inject, test } from 'vitest';
import { ask } from '../support/http-client.ts';
import { violationsOf } from './support/axe.ts';
import { describeInBrowser, openConsole } from './support/console-page.ts';

const endless = 'select count(*) from range(1000000) a, range(1000000) b where (a.range * b.range) % 7 = 3';

/** Cancelling ends the request and asks for the end of the statement; whichever is later finds it ended. */
const alreadyEnded = /status of 404 .*\/queries\//;

describeInBrowser('the SQL view of the console', () => {
  /** Types into the editor as a person would, in the place of what is there. */
  const write = async (page: Page, sql: string): Promise<void> => {
    await page.locator('.cm-content').click();
    await page.keyboard.press('Control+a');
    await page.keyboard.insertText(sql);
  };
  const run = async (page: Page, sql: string): Promise<void> => {
    await write(page, sql);
    await page.keyboard.press('Control+Enter');
  };
  const result = (page: Page) => page.getByRole('region', { name: 'Result' });
  const runningStatements = async (): Promise<number> => {
    const { queries } = (await ask(`${inject('demoUrl')}/queries`)).json() as { queries: readonly unknown[] };
    return queries.length;
  };

  test('runs a statement by Ctrl+Enter and shows every value as it is', async () => {
    await using opened = await openConsole('#/sql');
    const { page } = opened;
    await run(page, "select 9007199254740993 as big, 0.1::decimal(20, 3) as exact, null as none, '' as bare");
    for (const text of ['9007199254740993', '0.100', 'NULL'])
      await result(page).getByText(text, { exact: true }).first().waitFor();
    await result(page).getByText('1 row ·').waitFor();
  });

  test('runs the statement under the cursor, and all that are selected one after another', async () => {
    await using opened = await openConsole('#/sql');
    const { page } = opened;
    await write(page, "select 'first' as a;\nselect 'second' as b;");
    await page.keyboard.press('Control+Home');
    await page.keyboard.press('Control+Enter');
    await result(page).getByText('first', { exact: true }).waitFor();
    await page.locator('.cm-content').click();
    await page.keyboard.press('Control+a');
    await page.keyboard.press('Control+Enter');
    await result(page).getByText('second', { exact: true }).waitFor();
    await result(page).getByRole('combobox', { name: 'Statement' }).selectOption({ index: 0 });
    await result(page).getByText('first', { exact: true }).waitFor();
  });

  test('shows what is wrong with a statement, and where', async () => {
    await using opened = await openConsole('#/sql', { allowed: /status of 400/ });
    const { page } = opened;
    await run(page, 'select prise from trades');
    await result(page).getByRole('alert').getByText('prise').first().waitFor();
    await page.locator('.cm-lintRange-error').first().waitFor();
    await run(page, 'select price from trades limit 1');
    await page.locator('.cm-lintRange-error').waitFor({ state: 'detached' });
    await result(page).getByText('1 row ·').waitFor();
  });

  test('completes the names of frames and of their columns', async () => {
    await using opened = await openConsole('#/sql');
    const { page } = opened;
    await page.locator('.cm-content').click();
    await page.keyboard.type('select * from tra', { delay: 20 });
    const option = page.getByRole('option', { name: /^trades/ }).first();
    await option.waitFor();
    expect(await violationsOf(page)).toEqual([]);
    await option.click();
    await page.keyboard.type(' where pri', { delay: 20 });
    await page
      .getByRole('option', { name: /^price/ })
      .first()
      .waitFor();
  });

  test('cancels a statement, and frees the worker that ran it', async () => {
    await using opened = await openConsole('#/sql', { allowed: alreadyEnded });
    const { page } = opened;
    await run(page, endless);
    await result(page).getByText('running for').waitFor();
    await expect.poll(runningStatements).toBe(1);
    await page.getByRole('button', { name: 'Cancel' }).click();
    await result(page).getByText('cancelled after').first().waitFor();
    await expect.poll(runningStatements).toBe(0);
  });

  test('cancels also where six tabs run a statement each', async () => {
    await using opened = await openConsole('#/sql', { allowed: alreadyEnded });
    const { page } = opened;
    for (let tab = 0; tab < 6; tab++) {
      if (tab > 0) await page.getByRole('button', { name: 'New tab' }).click();
      await run(page, endless);
      await result(page)
        .getByText(/running for|waits for its turn/)
        .waitFor();
    }
    const tabs = page.getByRole('tablist', { name: 'Statements' }).getByRole('tab');
    for (let tab = 5; tab >= 0; tab--) {
      await tabs.nth(tab).click();
      await page.getByRole('button', { name: 'Cancel' }).click();
      await result(page)
        .getByText(/^cancelled/)
        .first()
        .waitFor();
    }
    await expect.poll(runningStatements).toBe(0);
  });

  test('keeps tabs and their texts over a reload', async () => {
    await using opened = await openConsole('#/sql');
    const { page } = opened;
    await write(page, 'select 1 as kept');
    await page.getByRole('button', { name: 'New tab' }).click();
    await write(page, 'select 2 as second');
    await page.reload();
    await page.locator('.cm-content').getByText('select 2 as second').waitFor();
    await page.getByRole('tablist', { name: 'Statements' }).getByRole('tab').first().click();
    await page.locator('.cm-content').getByText('select 1 as kept').waitFor();
  });
});
