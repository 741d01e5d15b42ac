import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { violationsOf } from './support/axe.ts';
import { describeInBrowser, openConsole } from './support/console-page.ts';
import { type ConsoleServer, startConsoleServer } from './support/console-server.ts';
import { loadedRows } from './support/grid.ts';
import { result, run } from './support/sql-page.ts';

/** Whatever makes an element of it, or runs it, is seen: an image that fails to load, or a title. */
const markup = `<img src=x onerror="document.title='run'"><script>document.title='run'</script>`;

describeInBrowser('markup in data', () => {
  let server: ConsoleServer;
  beforeAll(async () => {
    server = await startConsoleServer();
    const quoted = `"${markup.replaceAll('"', '""')}"`;
    await server.put('hostile', `${quoted},other\n${quoted},1\n${quoted},2\n`);
  });
  afterAll(() => server[Symbol.asyncDispose]());

  test.each([
    ['the rows of a frame', '#/frames/hostile', 3],
    ['its columns', '#/frames/hostile?tab=columns', 1],
  ])('stays text in %s', async (_, fragment, times) => {
    await using opened = await openConsole(fragment, { url: server.url });
    const { page } = opened;
    await page.getByText(markup, { exact: true }).first().waitFor();
    await expect.poll(() => page.getByText(markup, { exact: true }).count()).toBeGreaterThanOrEqual(times);
    expect(await page.locator('main img, main script').count()).toBe(0);
    expect(await page.title()).not.toBe('run');
  });

  test('stays text in the viewer of a cell and in the profile of a column', async () => {
    await using opened = await openConsole('#/frames/hostile', { url: server.url });
    const { page } = opened;
    await loadedRows(page);
    await page.getByRole('grid').focus();
    await page.keyboard.press('Control+Home');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').getByText(markup, { exact: true }).first().waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('tab', { name: 'Columns' }).click();
    await page.getByRole('button', { name: markup }).first().click();
    await page.getByText('Different', { exact: true }).first().waitFor();
    expect(await page.locator('main img, main script, dialog img').count()).toBe(0);
    expect(await page.title()).not.toBe('run');
  });

  test('stays text in the error of a statement, in completions, and in a link', async () => {
    const sql = `select "${markup.replaceAll('"', '""')}x" from hostile`;
    await using opened = await openConsole(`#/sql?q=${encodeURIComponent(sql)}`, {
      url: server.url,
      allowed: /status of 400/,
    });
    const { page } = opened;
    await page.locator('.cm-content').getByText('onerror').first().waitFor();
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await page.getByRole('alert').getByText('<img src=x').first().waitFor();
    expect(await page.locator('main img, main script').count()).toBe(0);
    expect(await page.title()).not.toBe('run');
  });

  test('runs nothing of what a link says but on the local engine', async () => {
    const sql = 'drop table hostile';
    await using opened = await openConsole(`#/sql?q=${encodeURIComponent(sql)}&run=1`, {
      url: server.url,
      allowed: /status of 4/,
    });
    const { page } = opened;
    await page.locator('.cm-content').getByText(sql).waitFor();
    await page.getByRole('link', { name: 'Frames', exact: true }).click();
    await page.getByRole('link', { name: 'hostile' }).waitFor();
  });
});

describeInBrowser('values that could be taken for others', () => {
  let server: ConsoleServer;
  /** The name turns the direction, and so does the text. */
  const name = 'tur\u202Ened';
  const text = 'abc\u202Ecba\u200B';
  /** Emoji and letters that are one by such characters. */
  const joined = '👩🏽\u200D🚀 ❤\uFE0F می\u200Cخواهم';
  const sql = `select * from (values
    ('NaN'::double, 'Infinity'::float, ['-Infinity'::double, 2], 'infinity'::date, 'NaN', '${text}'),
    (NULL, NULL, NULL, NULL, NULL, '${joined}')) as t(d, f, l, day, word, "${name}")`;
  beforeAll(async () => {
    server = await startConsoleServer();
    await server.putSql('special', sql);
  });
  afterAll(() => server[Symbol.asyncDispose]());

  const named = ['NaN', 'Infinity', '[-Infinity,2]', 'Infinity', 'NaN', text];
  const nulls = ['NULL', 'NULL', 'NULL', 'NULL', 'NULL', joined];
  const lookOf = (page: Page): Promise<readonly string[]> =>
    page
      .getByRole('grid')
      .locator('[aria-rowindex="2"] [role=gridcell]')
      .evaluateAll((cells) => cells.map((cell) => (cell.classList.contains('not-finite') ? 'not finite' : 'plain')));
  const signsOf = (page: Page, within: string): Promise<readonly (string | null)[]> =>
    page
      .locator(`${within} .hidden-character`)
      .evaluateAll((signs) => signs.map((sign) => sign.getAttribute('data-sign')));

  test('are told apart in the rows of a frame and of a statement: NaN, the infinities, NULL, and texts that spell them', async () => {
    await using opened = await openConsole('#/frames/special', { url: server.url });
    const { page } = opened;
    const look = ['not finite', 'not finite', 'plain', 'not finite', 'plain', 'plain'];
    expect((await loadedRows(page)).map(({ cells }) => cells)).toEqual([named, nulls]);
    expect(await lookOf(page)).toEqual(look);
    expect(await violationsOf(page)).toEqual([]);
    await page.getByRole('link', { name: 'Query' }).click();
    await page.locator('.cm-content').getByText('special').waitFor();
    await run(page, sql);
    await result(page).getByText('2 rows ·').waitFor();
    expect((await loadedRows(page)).map(({ cells }) => cells)).toEqual([named, nulls]);
    expect(await lookOf(page)).toEqual(look);
  });

  test('are copied as an export spells them, with the characters that are not seen', async () => {
    await using opened = await openConsole('#/frames/special', { url: server.url });
    const { page } = opened;
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await loadedRows(page);
    expect(await signsOf(page, '[role=row][aria-rowindex="2"]')).toEqual(['RLO', 'ZWSP']);
    expect(await signsOf(page, '[role=row][aria-rowindex="3"]')).toEqual([]);
    expect(await signsOf(page, '.grid-head')).toEqual(['RLO']);
    await page.getByRole('grid').focus();
    await page.keyboard.press('Control+a');
    await page.keyboard.press('Control+c');
    await page.getByText('Copied 2 × 6 cells').waitFor();
    const copied = await page.evaluate(() => navigator.clipboard.readText());
    expect(copied.split('\n')).toEqual([named.join('\t'), `\t\t\t\t\t${joined}`]);
    await page.keyboard.press('Control+Home');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').locator('pre .not-finite').getByText('NaN').waitFor();
    await page.keyboard.press('Escape');
  });

  test('have signs in names of columns and their profiles, and in files before they are kept', async () => {
    await using opened = await openConsole('#/frames/special?tab=columns', { url: server.url });
    const { page } = opened;
    await page.getByRole('button', { name: 'word' }).waitFor();
    expect(await signsOf(page, '.column-list')).toEqual(['RLO']);
    await page.locator('.column-button').last().click();
    await page.locator('.profile-top .hidden-character').first().waitFor();
    await page.locator('.column-button').first().click();
    await page.locator('.profile .not-finite').first().waitFor();
    await page.goto(`${server.url}/#/upload`);
    const csv = `x,${name}\nNaN,${text}\n1.5,b\n,c\n`;
    await page
      .locator('input[type=file]')
      .first()
      .setInputFiles({ name: 'new.csv', mimeType: 'text/csv', buffer: Buffer.from(csv) });
    await page.locator('.preview-table td .not-finite').getByText('NaN').waitFor();
    expect(await signsOf(page, '.preview-table td')).toEqual(['RLO', 'ZWSP']);
    expect(await signsOf(page, '.preview-table th')).toEqual(['RLO']);
  });
});
