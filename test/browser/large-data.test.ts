import { expect, test } from 'vitest';
import { describeInBrowser, openConsole } from './support/console-page.ts';
import { startConsoleServer } from './support/console-server.ts';
import { goToRow, loadedRows } from './support/grid.ts';

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
