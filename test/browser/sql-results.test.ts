import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Download, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Cleanup } from '../../src/core/async/cleanup.ts';
import { ask } from '../support/http-client.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { violationsOf } from './support/axe.ts';
import { type ConsolePage, describeInBrowser, openConsole, type PageOptions } from './support/console-page.ts';
import { type ConsoleServer, startConsoleServer } from './support/console-server.ts';
import { goToRow, loadedRows } from './support/grid.ts';
import { editor, result, run, statementsOf, write } from './support/sql-page.ts';

describeInBrowser('what the SQL view does with results and texts', () => {
  const cleanup = new Cleanup();
  let server: ConsoleServer;
  let folder: string;

  beforeAll(async () => {
    folder = cleanup.use(await temporaryDirectory()).path;
    server = cleanup.use(await startConsoleServer());
    await server.putSql(
      'prices',
      "select timestamp '2026-01-01' + to_seconds(range) as moment, sin(range / 500) as price, range % 7 as day from range(20000)",
    );
  });
  afterAll(() => cleanup[Symbol.asyncDispose]());

  const open = (fragment = '#/sql', options: PageOptions = {}): Promise<ConsolePage> =>
    openConsole(fragment, { url: server.url, ...options });
  const saved = async (download: Download): Promise<string> => {
    const path = join(folder, download.suggestedFilename());
    await download.saveAs(path);
    return readFile(path, 'utf8');
  };
  const drawnPoints = (page: Page) => result(page).getByText(/^[\d,]+ of 20,000 points/);

  test('keeps all rows of a result as a frame for a time, and pages through it without running the statement again', async () => {
    await using opened = await open();
    const { page } = opened;
    const statements: string[] = [];
    page.on('request', (request) => {
      if (request.method() === 'POST' && request.url().endsWith('/sql')) statements.push(request.postData() ?? '');
    });
    await run(page, 'select range as n, range * 2 as twice from range(250000)');
    await result(page).getByText('These are the first 1,000 rows; there are more.').waitFor();
    await page.getByRole('button', { name: 'All rows …' }).click();
    const dialog = page.getByRole('dialog', { name: 'All rows' });
    await dialog.getByLabel('Name of the frame').fill('all_of_it');
    await dialog.getByLabel('It stays for').selectOption('1d');
    await dialog.getByRole('button', { name: 'Keep all rows' }).click();
    await result(page).getByText('All 250,000 rows, kept as').waitFor();
    for (const row of [250_000, 123_457]) {
      await goToRow(page, row);
      await expect
        .poll(async () => (await loadedRows(page)).find(({ number }) => number === row)?.cells)
        .toEqual([String(row - 1), String(2 * row - 2)]);
    }
    expect(statements).toHaveLength(2);
    expect((await ask(`${server.url}/handles/all_of_it`)).json()).toMatchObject({ rows: 250_000, ttl: 86_400 });
    await result(page).getByRole('link', { name: 'all_of_it' }).click();
    await page.getByRole('heading', { name: 'all_of_it' }).waitFor();
  });

  test('exports all rows of a result as a file', async () => {
    await using opened = await open();
    const { page } = opened;
    await run(page, "select range as n, '=1+' || range as text from range(2000)");
    await page.getByRole('button', { name: 'Export …' }).click();
    const dialog = page.getByRole('dialog', { name: 'Export all rows' });
    await dialog.getByLabel('Format').selectOption('csv');
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      dialog.getByRole('button', { name: 'Download' }).click(),
    ]);
    expect(download.suggestedFilename()).toBe('result.csv');
    const lines = (await saved(download)).trim().split('\r\n');
    expect([lines.length, lines[0], lines.at(-1)]).toEqual([2001, 'n,text', "1999,'=1+1999"]);
  });

  test('saves statements under names and remembers those that ran, and takes both to another browser', async () => {
    const files: string[] = [];
    {
      await using opened = await open();
      const { page } = opened;
      await run(page, "select 'remembered' as text");
      await result(page).getByText('remembered', { exact: true }).waitFor();
      await page.getByRole('button', { name: 'Save under a name' }).click();
      await page.getByRole('textbox', { name: 'Name' }).fill('my statement');
      await page.keyboard.press('Enter');
      for (const [button, title] of [
        ['Saved statements', 'Saved statements'],
        ['History', 'History'],
      ] as const) {
        await page.getByRole('button', { name: button }).click();
        const dialog = page.getByRole('dialog', { name: title });
        const [download] = await Promise.all([
          page.waitForEvent('download'),
          dialog.getByRole('button', { name: 'Export' }).click(),
        ]);
        files.push(await saved(download));
        await page.keyboard.press('Escape');
      }
    }
    await using elsewhere = await open();
    const { page } = elsewhere;
    for (const [at, title] of ['Saved statements', 'History'].entries()) {
      await page.getByRole('button', { name: title }).click();
      const dialog = page.getByRole('dialog', { name: title });
      const file = { name: 'file.json', mimeType: 'application/json', buffer: Buffer.from(files[at] ?? '') };
      await dialog.locator('input[type=file]').setInputFiles(file);
      await dialog.getByRole('searchbox').fill('remem');
      await dialog.getByRole('button', { name: /select 'remembered'/ }).click();
      await editor(page).getByText("select 'remembered' as text").waitFor();
      await page.keyboard.press('Control+End');
      await page.keyboard.type(' -- typed');
      await editor(page).getByText("select 'remembered' as text -- typed").waitFor();
    }
    expect(await statementsOf(server.url)).toEqual([]);
  });

  test('shows the plan of a statement, which does not run', async () => {
    await using opened = await open();
    const { page } = opened;
    await write(page, 'select count(*) from prices where price > 0.5');
    await page.getByRole('button', { name: 'Explain' }).click();
    await result(page)
      .locator('pre')
      .getByText(/FILTER|PARQUET_SCAN|READ_PARQUET|AGGREGATE/i)
      .waitFor();
    await result(page).getByText('the plan ·').waitFor();
  });

  test('remembers a plan apart from its statement, whose figures stay', async () => {
    await using opened = await open();
    const { page } = opened;
    await run(page, 'select day from prices limit 42');
    await result(page).getByText('42 rows ·').waitFor();
    await page.getByRole('button', { name: 'Explain' }).click();
    await result(page).getByText('the plan ·').waitFor();
    await page.getByRole('button', { name: 'History' }).click();
    const entries = await page.getByRole('dialog', { name: 'History' }).getByRole('listitem').allTextContents();
    expect(entries).toEqual([
      expect.stringMatching(/^EXPLAIN select day from prices limit 42.* · the plan$/),
      expect.stringMatching(/^select day from prices limit 42.* · 42 rows$/),
    ]);
  });

  test('shows the result of what runs, and of a script the last one with rows before the others', async () => {
    await using opened = await open('#/sql', { allowed: /status of 400/ });
    const { page } = opened;
    await run(page, 'selct 1');
    await result(page).getByRole('tab', { name: 'Messages' }).click();
    await result(page).getByText('failed after').first().waitFor();
    await run(page, "select 'in front' as text");
    await result(page).getByRole('gridcell', { name: 'in front' }).waitFor();
    await write(page, "create table gone as select 1 as a; select 'the rows' as text; drop table gone");
    await page.keyboard.press('Control+a');
    await page.keyboard.press('Control+Enter');
    await result(page).getByRole('gridcell', { name: 'the rows' }).waitFor();
    const others = result(page).getByRole('combobox', { name: 'Statement' });
    const outcomes = () => others.locator('option').allTextContents();
    await expect
      .poll(outcomes)
      .toEqual([
        expect.stringMatching(/^1 of 3: create table gone .* · done/),
        expect.stringMatching(/^2 of 3: select 'the rows' .* · 1 row/),
        expect.stringMatching(/^3 of 3: drop table gone · done/),
      ]);
    await result(page).getByRole('gridcell', { name: 'the rows' }).waitFor();
    await others.selectOption({ index: 2 });
    await result(page).locator('.empty').getByText('done ·').waitFor();
  });

  test('plots a result, with settings that stay when the next statement runs', async () => {
    await using opened = await open();
    const { page } = opened;
    await run(page, 'select moment, price, day from prices');
    await result(page).getByRole('tab', { name: 'Plot' }).click();
    await drawnPoints(page).waitFor();
    await result(page).getByLabel('Kind').selectOption('band');
    await result(page).getByLabel('log y').check();
    await result(page)
      .getByText(/^[\d,]+ spans? of 20,000/)
      .or(result(page).getByText(/spans/))
      .first()
      .waitFor();
    await run(page, 'select moment, price from prices where day = 3');
    await result(page)
      .getByText(/2,85[67] rows/)
      .first()
      .waitFor();
    expect(await result(page).getByLabel('Kind').inputValue()).toBe('band');
    expect(await result(page).getByLabel('log y').isChecked()).toBe(true);
    // The server is asked for the statement as the person wrote it.
    expect(await statementsOf(server.url)).toEqual([]);
  });

  test('asks for the values of parameters, and runs, explains, plots, exports and links the statement with them', async () => {
    await using opened = await open('#/sql', { allowed: /status of 400/ });
    const { page } = opened;
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    const fields = page.getByRole('form', { name: 'Values of the parameters' });
    const sql = 'select range as n, $word as word, $since as since from range($most)';
    await run(page, sql);
    await fields.getByRole('alert').getByText('$word has no value').waitFor();
    await expect.poll(() => fields.getByLabel('$word', { exact: true }).getAttribute('aria-invalid')).toBe('true');
    await fields.getByLabel('$word', { exact: true }).fill('a; b');
    await fields.getByLabel('$most', { exact: true }).fill('1500');
    await fields.getByLabel('Type of $since').selectOption('date');
    await fields.getByLabel('$since', { exact: true }).fill('2026-01-31');
    expect(await violationsOf(page)).toEqual([]);
    await page.keyboard.press('Enter');
    await result(page).getByText('These are the first 1,000 rows').waitFor();
    expect((await loadedRows(page))[0]?.cells).toEqual(['0', 'a; b', '2026-01-31']);

    await page.getByRole('button', { name: 'Export …' }).click();
    const dialog = page.getByRole('dialog', { name: 'Export all rows' });
    await dialog.getByLabel('Format').selectOption('csv');
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      dialog.getByRole('button', { name: 'Download' }).click(),
    ]);
    expect((await saved(download)).trim().split('\r\n').slice(-1)).toEqual(['1499,"a; b",2026-01-31']);
    await result(page).getByRole('tab', { name: 'Plot' }).click();
    await result(page).getByText('all 1,500 rows').or(result(page).getByText('of 1,500')).first().waitFor();
    await result(page).getByRole('tab', { name: 'Result' }).click();
    await page.getByRole('button', { name: 'Explain' }).click();
    await result(page).getByText('the plan ·').waitFor();

    await page.getByRole('button', { name: 'Copy link' }).click();
    await page.getByText('it opens this text, and runs nothing').waitFor();
    const copied = new URL(await page.evaluate(() => navigator.clipboard.readText()));
    await using linked = await open(`${copied.hash}&run=1`);
    await result(linked.page).getByText('These are the first 1,000 rows').waitFor();
    expect(await linked.page.getByLabel('$word', { exact: true }).inputValue()).toBe('a; b');
    expect(await linked.page.getByLabel('Type of $since').inputValue()).toBe('date');

    // Each statement has its own values, also after another one and a reload.
    await run(page, 'select ? + ? as total');
    await fields.getByLabel('?1', { exact: true }).fill('40');
    await fields.getByLabel('?2', { exact: true }).fill('2');
    await page.keyboard.press('Control+Enter');
    await result(page).getByRole('gridcell', { name: '42' }).waitFor();
    await write(page, 'select 1 as a');
    await fields.waitFor({ state: 'detached' });
    await write(page, sql);
    await expect.poll(() => fields.getByLabel('$most', { exact: true }).inputValue()).toBe('1500');
    await page.reload();
    await expect.poll(() => fields.getByLabel('$word', { exact: true }).inputValue()).toBe('a; b');
    // What the server finds wrong is told at the field.
    await fields.getByLabel('Type of $since').selectOption('json');
    await fields.getByLabel('$since', { exact: true }).fill('{"type":"DAY","value":"1"}');
    await page.keyboard.press('Enter');
    await fields.getByRole('alert').getByText('params.since').waitFor();
    expect(await fields.getByLabel('$since', { exact: true }).getAttribute('aria-invalid')).toBe('true');
  });

  test('completes functions, and names of columns behind the frame', async () => {
    await using opened = await open();
    const { page } = opened;
    await editor(page).click();
    await page.keyboard.type('select quantile_c', { delay: 10 });
    await page
      .getByRole('option', { name: /^quantile_cont/ })
      .first()
      .click();
    await editor(page)
      .getByText(/quantile_cont/)
      .waitFor();
    await write(page, '');
    await page.keyboard.type('select * from prices where da', { delay: 10 });
    await page.getByRole('option', { name: /^day/ }).first().waitFor();
  });

  test('runs the selected part of a text alone', async () => {
    await using opened = await open();
    const { page } = opened;
    await write(page, "select 'chosen' as text where false");
    for (let step = 0; step < ' where false'.length; step++) await page.keyboard.press('ArrowLeft');
    await page.keyboard.press('Shift+Home');
    await page.keyboard.press('Control+Enter');
    await result(page).getByText('chosen', { exact: true }).waitFor();
    await result(page).getByText('1 row ·').waitFor();
  });

  test('opens a link with text, engine and plot, and runs nothing', async () => {
    await using opened = await open();
    const { page } = opened;
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await run(page, 'select moment, price from prices');
    await result(page).getByRole('tab', { name: 'Plot' }).click();
    await drawnPoints(page).waitFor();
    await result(page).getByLabel('Kind').selectOption('histogram');
    await result(page).getByText(/bins/).first().waitFor();
    await page.getByRole('button', { name: 'Copy link' }).click();
    await page.getByText('it opens this text, and runs nothing').waitFor();
    const copied = new URL(await page.evaluate(() => navigator.clipboard.readText()));
    expect(copied.search).toBe('');
    const asked: string[] = [];
    page.context().on('request', (request) => asked.push(new URL(request.url()).pathname));
    await using linked = await open(copied.hash, { beside: opened });
    await editor(linked.page).getByText('select moment, price from prices').waitFor();
    await linked.page.getByText('Run a statement that gives rows: its plot stands here.').waitFor();
    // Whoever made this one wants it to run.
    const query = { q: 'drop table prices', engine: 'auto', run: '1', plot: '{"kind":"line"}' };
    await using hostile = await open(`#/sql?${new URLSearchParams(query)}`, { beside: opened });
    await editor(hostile.page).getByText('drop table prices').waitFor();
    expect(await hostile.page.getByLabel('Engine').inputValue()).toBe('auto');
    await hostile.page.getByText('Run a statement that gives rows: its plot stands here.').waitFor();
    expect(asked.filter((path) => /^\/(sql|exec|plot)/.test(path))).toEqual([]);
    await linked.page.getByRole('button', { name: 'Run', exact: true }).click();
    await result(linked.page).getByText(/bins/).first().waitFor();
    expect(await result(linked.page).getByLabel('Kind').inputValue()).toBe('histogram');
  });
});
