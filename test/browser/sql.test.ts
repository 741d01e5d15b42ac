import { expect, inject, test } from 'vitest';
import { violationsOf } from './support/axe.ts';
import { describeInBrowser, openConsole } from './support/console-page.ts';
import { alreadyEnded, editor, endless, result, run, statementsOf, write } from './support/sql-page.ts';

describeInBrowser('the SQL view of the console', () => {
  /** Those of this file: others use the server too. */
  const runningStatements = async (): Promise<number> =>
    (await statementsOf(inject('demoUrl'))).filter(({ sql }) => sql === endless).length;

  test('runs a statement by Ctrl+Enter and shows every value as it is', async () => {
    await using opened = await openConsole('#/sql');
    const { page } = opened;
    await run(page, "select 9007199254740993 as big, 0.1::decimal(20, 3) as exact, null as none, '' as bare");
    for (const text of ['9007199254740993', '0.100', 'NULL'])
      await result(page).getByText(text, { exact: true }).first().waitFor();
    await run(page, `select '{"n":9007199254740993}'::json as inside`);
    await result(page).getByText('{"n":9007199254740993}', { exact: true }).waitFor();
    await result(page).getByText('1 row ·').waitFor();
  });

  test('runs the statement that a frame offers by Ctrl+Enter, wherever the focus is', async () => {
    await using opened = await openConsole('#/frames/trades');
    const { page } = opened;
    await page.getByRole('link', { name: 'Query' }).click();
    await page.locator('.cm-content').getByText('trades').waitFor();
    await page.keyboard.press('Control+Enter');
    await result(page).getByText('100 rows ·').waitFor();
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
    await page.locator('.cm-error-mark').first().waitFor();
    await run(page, 'select price from trades limit 1');
    await page.locator('.cm-error-mark').waitFor({ state: 'detached' });
    await result(page).getByText('1 row ·').waitFor();
  });

  test('takes the mark of an error along with its word, and away when that is mended', async () => {
    await using opened = await openConsole('#/sql', { allowed: /status of 400/ });
    const { page } = opened;
    const marked = page.locator('.cm-error-mark');
    await run(page, 'select prise from trades');
    await marked.getByText('prise', { exact: true }).waitFor();
    expect(await marked.getAttribute('title')).toContain('prise');
    await page.keyboard.press('Control+Home');
    await page.keyboard.type('-- a comment before it\n');
    await page.keyboard.press('Control+End');
    await page.keyboard.type(' limit 1');
    expect(await marked.allTextContents()).toEqual(['prise']);
    for (let step = 0; step < ' from trades limit 1'.length + 1; step++) await page.keyboard.press('ArrowLeft');
    await page.keyboard.press('Backspace');
    await page.keyboard.type('c');
    expect(await editor(page).textContent()).toContain('select price from');
    expect(await marked.count()).toBe(0);
    await run(page, 'selct 1');
    await marked.waitFor();
    await write(page, 'select 1 as selct');
    expect(await marked.count()).toBe(0);
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

  test('takes what is typed before the editor is there, and goes on where it was', async () => {
    await using opened = await openConsole('#/frames');
    const { page } = opened;
    await page.getByRole('link', { name: 'trades' }).first().waitFor();
    let release = (): void => undefined;
    const isReleased = new Promise<void>((resolve) => {
      release = resolve;
    });
    await page.route(/code-editor/, async (route) => {
      await isReleased;
      await route.continue();
    });
    await page.getByRole('link', { name: 'SQL' }).click();
    await page.getByRole('textbox', { name: 'SQL statements' }).click();
    await page.keyboard.type("select 'early");
    release();
    await editor(page).waitFor();
    await page.keyboard.type(" and late' as text");
    await page.keyboard.press('Control+Enter');
    await result(page).getByText('early and late', { exact: true }).waitFor();
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

  test('cancels each of six statements, also where two windows have all connections of the browser', async () => {
    await using first = await openConsole('#/sql', { allowed: alreadyEnded });
    await using second = await openConsole('#/sql', { beside: first, allowed: alreadyEnded });
    // A page has three under way at a time, and a browser six connections to a server.
    for (const { page } of [first, second]) {
      for (let tab = 0; tab < 4; tab++) {
        if (tab > 0) await page.getByRole('button', { name: 'New tab' }).click();
        await run(page, endless);
        await result(page)
          .getByText(tab < 3 ? 'running for' : 'waits for its turn')
          .waitFor();
      }
    }
    await expect.poll(runningStatements).toBe(6);
    for (const [at, { page }] of [first, second].entries()) {
      const tabs = page.getByRole('tablist', { name: 'Statements' }).getByRole('tab');
      for (let tab = 3; tab >= 0; tab--) {
        await tabs.nth(tab).click();
        await page.getByRole('button', { name: 'Cancel' }).click();
        await result(page)
          .getByText(/^cancelled/)
          .first()
          .waitFor();
        const others = at === 0 ? 3 : 0;
        await expect.poll(runningStatements).toBe(Math.min(tab, 3) + others);
      }
    }
    await run(second.page, "select 'the seventh' as text");
    await result(second.page).getByText('the seventh', { exact: true }).waitFor();
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

  test('keeps the tabs of each window, and those of a closed one for the next window', async () => {
    await using first = await openConsole('#/sql');
    await write(first.page, 'select 1 as first');
    {
      await using second = await openConsole('#/sql', { beside: first });
      await write(second.page, 'select 2 as second');
      for (const { page } of [first, second]) await page.reload();
      await editor(first.page).getByText('select 1 as first').waitFor();
      await editor(second.page).getByText('select 2 as second').waitFor();
    }
    await using third = await openConsole('#/sql', { beside: first });
    await editor(third.page).getByText('select 2 as second').waitFor();
    expect(await third.page.getByRole('tablist', { name: 'Statements' }).getByRole('tab').count()).toBe(1);
  });
});
