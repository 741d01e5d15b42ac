import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeInBrowser, openConsole } from './support/console-page.ts';
import { type ConsoleServer, startConsoleServer } from './support/console-server.ts';
import { goToRow, grid, loadedRows, type ShownRow, shownRows } from './support/grid.ts';

/** The demo's trades: a million rows, more than an element can be high for, whose column `id` is their number. */
const trades = '#/frames/trades';
const rowCount = 1_000_000;
const idColumn = 5;

/** Rows whose cells are not those of the row that they say they are. */
const wrongRows = (rows: readonly ShownRow[]): readonly ShownRow[] =>
  rows.filter(
    ({ index, number, isPending, cells }) =>
      number !== index + 1 || (!isPending && cells[idColumn]?.replaceAll(',', '') !== String(index)),
  );

describeInBrowser('the grid of the console', () => {
  test('shows exactly the row that was asked for: the first, the last, and any between', async () => {
    await using opened = await openConsole(trades);
    const { page } = opened;
    await loadedRows(page);
    const some = fc.sample(fc.integer({ min: 2, max: rowCount - 1 }), { numRuns: 24, seed: 24 });
    for (const row of [1, rowCount, ...some.slice(0, 4)]) {
      await goToRow(page, row);
      const rows = await loadedRows(page);
      expect(wrongRows(rows)).toEqual([]);
      expect(
        rows.map(({ number }) => number),
        `row ${row}`,
      ).toContain(row);
      const active = await grid(page).getAttribute('aria-activedescendant');
      const seen = await page.locator(`[id="${active}"]`).evaluate((cell) => {
        const { top, bottom } = cell.getBoundingClientRect();
        const index = Number(cell.parentElement?.getAttribute('aria-rowindex')) - 2;
        const at = document.elementFromPoint(cell.getBoundingClientRect().left + 4, (top + bottom) / 2);
        return { row: index + 1, isOnTop: at === cell };
      });
      expect(seen).toEqual({ row, isOnTop: true });
    }
    for (const row of some.slice(4)) {
      await page.evaluate((number) => {
        location.hash = `#/frames/trades?row=${number}`;
      }, row);
      await grid(page)
        .locator(`[aria-rowindex="${row + 1}"]:not([aria-busy])`)
        .waitFor();
      expect(wrongRows(await shownRows(page))).toEqual([]);
    }
  });

  test('shows no wrong row at any moment while one scrolls by wheel, by keys and by the bar', async () => {
    await using opened = await openConsole(trades);
    const { page } = opened;
    await loadedRows(page);
    const box = (await grid(page).boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 };
    await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
    for (const step of [300, 3000, -700, 90, 20_000, -5000]) {
      await page.mouse.wheel(0, step);
      expect(wrongRows(await shownRows(page))).toEqual([]);
    }
    for (const share of [0.5, 0.1, 0.999, 1, 0, 0.333]) {
      await grid(page).evaluate((element, part) => {
        element.scrollTop = part * (element.scrollHeight - element.clientHeight);
      }, share);
      expect(wrongRows(await shownRows(page))).toEqual([]);
    }
    const rows = await loadedRows(page);
    expect(wrongRows(rows)).toEqual([]);
    const middle = rows[Math.floor(rows.length / 2)]?.index ?? 0;
    expect(Math.abs(middle / rowCount - 0.333)).toBeLessThan(0.01);
  });

  test('moves by keys as grids do, with one stop for the Tab key', async () => {
    await using opened = await openConsole(trades);
    const { page } = opened;
    await loadedRows(page);
    await grid(page).focus();
    const active = async (): Promise<readonly [row: number, column: number]> => {
      const id = await grid(page).getAttribute('aria-activedescendant');
      return page
        .locator(`[id="${id}"]`)
        .evaluate(
          (cell) =>
            [
              Number(cell.parentElement?.getAttribute('aria-rowindex')) - 2,
              Number(cell.getAttribute('aria-colindex')) - 2,
            ] as const,
        );
    };
    const press = async (...keys: readonly string[]): Promise<readonly [number, number]> => {
      for (const key of keys) await page.keyboard.press(key);
      await loadedRows(page);
      return active();
    };
    expect(await press('Control+Home')).toEqual([0, 0]);
    expect(await press('ArrowDown', 'ArrowDown', 'ArrowRight')).toEqual([2, 1]);
    expect(await press('End')).toEqual([2, idColumn]);
    expect(await press('Control+End')).toEqual([rowCount - 1, idColumn]);
    expect(await press('ArrowUp', 'Home')).toEqual([rowCount - 2, 0]);
    const [row] = await press('PageUp');
    expect(row).toBeLessThan(rowCount - 10);
    expect(wrongRows(await loadedRows(page))).toEqual([]);
    expect(await grid(page).getAttribute('aria-rowcount')).toBe(String(rowCount + 1));
    expect(await grid(page).getAttribute('aria-colcount')).toBe(String(idColumn + 2));
    await page.keyboard.press('Tab');
    expect(await grid(page).evaluate((element) => element.contains(document.activeElement))).toBe(false);
  });

  test('has the row in its address, so that a link shows the same rows', async () => {
    await using opened = await openConsole(`${trades}?row=777777`);
    const { page } = opened;
    const rows = await loadedRows(page);
    expect(wrongRows(rows)).toEqual([]);
    expect(rows.map(({ number }) => number)).toContain(777_777);
    await goToRow(page, 500);
    await page.waitForFunction(() => location.hash.includes('row=500'));
  });

  test('keeps a few thousand nodes in the document, however far one scrolls', async () => {
    await using opened = await openConsole(trades, { width: 1920, height: 1080 });
    const { page } = opened;
    await loadedRows(page);
    for (const row of [10, 5000, rowCount, 77]) {
      await goToRow(page, row);
      await loadedRows(page);
      expect(await page.evaluate(() => document.querySelectorAll('*').length)).toBeLessThan(3000);
    }
  });
});

describeInBrowser('frames with values that are easily spoilt', () => {
  let server: ConsoleServer;
  beforeAll(async () => {
    server = await startConsoleServer();
  });
  afterAll(() => server[Symbol.asyncDispose]());
  const open = (fragment: string) => openConsole(fragment, { url: server.url });

  test('are shown exactly: large integers, decimals, nanoseconds, NULL and the empty text', async () => {
    await server.putSql(
      'exact',
      `SELECT 9223372036854775807::BIGINT AS big, -9007199254740993::BIGINT AS odd, 12345678901234567.123456789::DECIMAL(38, 9) AS exact,
       '2026-01-02T03:04:05.123456789'::TIMESTAMP_NS AS at, NULL::VARCHAR AS none, '' AS bare, 'NULL' AS word, [1, NULL, 3] AS list`,
    );
    await using opened = await open('#/frames/exact');
    const { page } = opened;
    const [row] = await loadedRows(page);
    const cells = row?.cells.map((cell) => cell.replaceAll(',', '')) ?? [];
    expect(cells.slice(0, 3)).toEqual(['9223372036854775807', '-9007199254740993', '12345678901234567.123456789']);
    expect(cells[3]).toContain('05.123456789');
    const looks = await page
      .getByRole('gridcell')
      .evaluateAll((all) =>
        all.map((cell) => `${cell.textContent} ${getComputedStyle(cell).fontStyle} ${getComputedStyle(cell).color}`),
      );
    expect(new Set(looks.slice(4, 7)).size).toBe(3);
  });

  test('are copied as they are, but for text that a spreadsheet would run', async () => {
    await server.put('formulas', 'text,number\n=1+1,-5\nplain,9007199254740993\n');
    await using opened = await open('#/frames/formulas');
    const { page } = opened;
    await loadedRows(page);
    await grid(page).focus();
    await page.keyboard.press('Control+Home');
    await page.keyboard.press('Control+a');
    await page.evaluate(() => {
      document.addEventListener('copy', (event) => {
        document.title = event.clipboardData?.getData('text/plain') ?? '';
      });
    });
    await page.keyboard.press('Control+c');
    await expect
      .poll(() => page.evaluate(() => document.querySelector('title')?.textContent))
      .toBe("'=1+1\t-5\nplain\t9007199254740993");
  });

  test('keep their own rows when they are replaced while one scrolls, until one asks for the new ones', async () => {
    const rows = (version: string) => `SELECT range AS id, '${version}' AS version FROM range(200000)`;
    await server.putSql('replaced', rows('old'));
    await using opened = await openConsole('#/frames/replaced', { url: server.url, allowed: /status of 409/ });
    const { page } = opened;
    await loadedRows(page);
    await server.putSql('replaced', rows('new'));
    await page.getByRole('alert').getByText('was replaced').waitFor();
    await goToRow(page, 150_000);
    const shown = await shownRows(page);
    expect(shown.filter(({ cells }) => cells[1] === 'new')).toEqual([]);
    await page.getByRole('button', { name: 'Show the new version' }).click();
    await page.getByRole('gridcell', { name: 'new' }).first().waitFor();
    expect((await loadedRows(page)).filter(({ cells }) => cells[1] !== 'new')).toEqual([]);
  });

  test('grow on the page as they grow, without a jump', async () => {
    await server.putSql('growing', `SELECT range AS id FROM range(1000)`);
    await using opened = await open('#/frames/growing?row=500');
    const { page } = opened;
    const before = await loadedRows(page);
    await server.append('growing', 'id\n1000\n1001\n');
    await page.waitForFunction(() => document.querySelector('[role=grid]')?.getAttribute('aria-rowcount') === '1003');
    expect((await loadedRows(page))[0]?.index).toBe(before[0]?.index);
    await goToRow(page, -1);
    expect((await loadedRows(page)).at(-1)?.cells).toEqual(['1001']);
  });

  test('offers as many rows to be copied as it can copy, where nothing is selected', async () => {
    await using opened = await openConsole(trades);
    const { page } = opened;
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await loadedRows(page);
    const columns = (await grid(page).getByRole('columnheader').count()) - 1;
    const fitting = Math.floor(500_000 / columns);
    await page.getByRole('button', { name: 'Copy as' }).click();
    const dialog = page.getByRole('dialog', { name: 'Copy' });
    await dialog
      .getByText(`The first ${fitting.toLocaleString('en-US')} rows × ${columns} columns of 1,000,000 rows`)
      .waitFor();
    await dialog.getByRole('button', { name: 'Copy', exact: true }).click();
    await dialog.waitFor({ state: 'detached' });
    const copied = await page.evaluate(() => navigator.clipboard.readText());
    expect(copied.split('\n')).toHaveLength(fitting + 1);
  });
});
