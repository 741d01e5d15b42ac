import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeInBrowser, openConsole } from './support/console-page.ts';
import { type ConsoleServer, startConsoleServer } from './support/console-server.ts';
import { goToRow, grid, loadedRows } from './support/grid.ts';

/** To write more columns than these takes DuckDB many seconds. */
const columnCount = 2000;
const lastColumn = `c${columnCount - 1}`;
const nodes = (page: Page): Promise<number> => page.evaluate(() => document.querySelectorAll('*').length);

describeInBrowser('a frame with thousands of columns', () => {
  let server: ConsoleServer;
  beforeAll(async () => {
    server = await startConsoleServer({ flags: ['--sql-timeout=2m'] });
    const columns = Array.from({ length: columnCount }, (_, at) => `range * ${columnCount} + ${at} AS c${at}`);
    await server.putSql('wide', `SELECT ${columns.join(', ')} FROM range(300)`);
  });
  afterAll(() => server[Symbol.asyncDispose]());
  const open = (fragment: string) => openConsole(fragment, { url: server.url });

  test('has only those in the document that are seen, and asks for no others', async () => {
    await using opened = await open('#/frames/wide');
    const { page } = opened;
    expect((await loadedRows(page))[1]?.cells.slice(0, 2)).toEqual([String(columnCount), String(columnCount + 1)]);
    await grid(page).focus();
    await page.keyboard.press('End');
    const last = columnCount - 1;
    await page.getByRole('columnheader', { name: `c${last}` }).waitFor();
    await page.getByRole('gridcell', { name: String(last), exact: true }).waitFor();
    expect((await loadedRows(page))[1]?.cells.at(-1)).toBe(String(columnCount + last));
    await page.keyboard.press('Control+End');
    await page.getByRole('gridcell', { name: String(299 * columnCount + last), exact: true }).waitFor();
    expect(await nodes(page)).toBeLessThan(3000);
    const sizes = await page.evaluate(() =>
      (performance.getEntriesByType('resource') as PerformanceResourceTiming[])
        .filter(({ name }) => name.includes('/rows?'))
        .map(({ decodedBodySize }) => decodedBodySize),
    );
    expect(Math.max(...sizes)).toBeGreaterThan(0);
    expect(Math.max(...sizes)).toBeLessThan(1_000_000);
  });

  test('shows the few that one chooses', async () => {
    await using opened = await open('#/frames/wide');
    const { page } = opened;
    await loadedRows(page);
    await page.getByRole('button', { name: 'Columns', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'Columns' });
    await dialog.getByRole('button', { name: 'None' }).click();
    await dialog.getByRole('searchbox').fill(`c${columnCount - 2}`);
    await dialog.getByRole('checkbox', { name: `c${columnCount - 2}` }).check();
    expect(await nodes(page)).toBeLessThan(3000);
    await dialog.getByRole('button', { name: 'Show 1' }).click();
    await page.getByRole('gridcell', { name: String(2 * columnCount - 2), exact: true }).waitFor();
    expect((await loadedRows(page))[0]?.cells).toEqual([String(columnCount - 2)]);
  });

  test('does not stop its columns and its plot', async () => {
    await using opened = await open('#/frames/wide?tab=columns');
    const { page } = opened;
    await page.getByRole('searchbox', { name: 'Filter columns' }).fill(lastColumn);
    await page.getByRole('button', { name: lastColumn }).click();
    await page.getByText('Different', { exact: true }).first().waitFor();
    expect(await nodes(page)).toBeLessThan(3000);
    await page.getByRole('tab', { name: 'Plot' }).click();
    await page.getByText('Series').waitFor();
    expect(await nodes(page)).toBeLessThan(3000);
    await page.getByLabel('X', { exact: true }).fill('c1998');
    await page.waitForFunction(() => location.hash.includes('c1998'));
    await page.locator('canvas').first().waitFor();
  });

  test('shows no rows of the frame that is put in its place, until one asks for them', async () => {
    await using opened = await openConsole('#/frames/wide', { url: server.url, allowed: /status of 410/ });
    const { page } = opened;
    await loadedRows(page);
    await server.putSql('wide', 'SELECT 7 AS seven');
    await page.getByRole('alert').getByText('was replaced').waitFor();
    await grid(page).focus();
    await page.keyboard.press('End');
    await page.getByText('These rows cannot be had any more.').waitFor();
    await page.getByRole('button', { name: 'Show the new version' }).click();
    await page.getByRole('gridcell', { name: '7', exact: true }).waitFor();
  });
});

describeInBrowser('a cell of many megabytes', () => {
  test('is shown in part, the page goes on answering, and the whole can be saved', async () => {
    await using server = await startConsoleServer();
    await server.putSql('long', `SELECT 1 AS id, repeat('<b>x</b>', 2500000) AS text`);
    await using opened = await openConsole('#/frames/long', { url: server.url });
    const { page } = opened;
    const [row] = await loadedRows(page);
    expect(row?.cells[1]?.length).toBeLessThan(400);
    await grid(page).focus();
    await page.keyboard.press('Control+Home');
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog', { name: 'text of row 1' });
    await dialog.getByText('20,000,000 characters').waitFor();
    await dialog.getByText('The first 200,000 characters are shown.').waitFor();
    expect((await dialog.locator('pre').textContent())?.length).toBe(200_000);
    expect(await page.locator('b').count()).toBe(0);
    const saving = page.waitForEvent('download');
    await dialog.getByRole('button', { name: 'Download' }).click();
    expect((await saving).suggestedFilename()).toBe('text-1.txt');
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
  });
});

describeInBrowser('a server that gives few rows at once', () => {
  test('is asked for no more, and every row can be seen and copied all the same', async () => {
    await using server = await startConsoleServer({ flags: ['--http-max-limit', '50'] });
    await server.putSql('numbers', 'SELECT range AS id FROM range(1234)');
    await using opened = await openConsole('#/frames/numbers', { url: server.url });
    const { page } = opened;
    for (const row of [1, 777, 1234]) {
      await goToRow(page, row);
      const rows = await loadedRows(page);
      expect(rows.map(({ number }) => number)).toContain(row);
      expect(rows.filter(({ index, cells }) => cells[0]?.replaceAll(',', '') !== String(index))).toEqual([]);
    }
    await page.getByRole('button', { name: 'Copy as' }).click();
    await page.getByRole('dialog', { name: 'Copy' }).getByRole('button', { name: 'Copy', exact: true }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });

    await page.goto(`${server.url}/#/sql?q=${encodeURIComponent('select id from numbers order by id')}`);
    await page.locator('.cm-content').getByText('numbers').waitFor();
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await page.getByText('These are the first 49 rows; there are more.').waitFor();
  });
});
