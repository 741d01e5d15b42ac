import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ask } from '../support/http-client.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { violationsOf } from './support/axe.ts';
import { type ConsolePage, describeInBrowser, openConsole } from './support/console-page.ts';
import { type ConsoleServer, startConsoleServer } from './support/console-server.ts';
import { loadedRows } from './support/grid.ts';

const table = (page: Page) => page.getByRole('table', { name: 'Frames' });

describeInBrowser('the list of frames', () => {
  let server: ConsoleServer;
  beforeAll(async () => {
    server = await startConsoleServer();
    await server.put('one', 'a,b\n1,2\n');
  });
  afterAll(() => server[Symbol.asyncDispose]());

  /** A page to which the server seems to have so many frames: to make them takes minutes. */
  const openMany = async (count: number): Promise<ConsolePage> => {
    const [one] = (await ask(`${server.url}/handles`)).json().handles as [Record<string, unknown>];
    const many = Array.from({ length: count }, (_, at) => ({ ...one, handle: `frame_${String(at).padStart(4, '0')}` }));
    const opened = await openConsole('#/server', { url: server.url, allowed: /status of 404 .*frame_/ });
    await opened.page.route(/\/handles(\?(?!.*live=)|$)/, async (route) => {
      const { searchParams } = new URL(route.request().url());
      const limit = Number(searchParams.get('limit') ?? 100);
      const after = searchParams.get('after') ?? '';
      const handles = many.filter(({ handle }) => handle > after).slice(0, limit);
      const last = handles.at(-1)?.handle;
      await route.fulfill({ json: { handles, next: last === many.at(-1)?.handle ? null : last } });
    });
    await opened.page.getByRole('link', { name: 'Frames', exact: true }).click();
    await opened.page.getByRole('status').getByText(count.toLocaleString('en-US'), { exact: true }).waitFor();
    return opened;
  };

  test('holds five thousand, of which only those that are seen are in the document', async () => {
    await using opened = await openMany(5000);
    const { page } = opened;
    expect(await table(page).getAttribute('aria-rowcount')).toBe('5001');
    expect(await page.evaluate(() => document.querySelectorAll('*').length)).toBeLessThan(1500);
    await page.keyboard.press('/');
    await page.keyboard.type('4999');
    await page.getByRole('link', { name: 'frame_4999' }).waitFor();
    expect(await table(page).getByRole('link').count()).toBe(1);
    await page.keyboard.press('Enter');
    await page.waitForFunction(() => location.hash === '#/frames/frame_4999');
    await page.goBack();
    await page.getByLabel('Filter by name').fill('');
    await page.getByRole('columnheader', { name: 'Name' }).getByRole('button').click();
    await page.getByRole('link', { name: 'frame_4999' }).waitFor();
    expect(await table(page).getByRole('link').first().textContent()).toBe('frame_4999');
  });

  test('offers every frame in the palette of commands', async () => {
    await using opened = await openMany(5000);
    const { page } = opened;
    await page.keyboard.press('Control+k');
    await page.keyboard.type('3210');
    await page.getByRole('option', { name: 'Open frame frame_3210' }).waitFor();
    await page.keyboard.press('Enter');
    await page.waitForFunction(() => location.hash === '#/frames/frame_3210');
  });

  test('changes as frames come and go', async () => {
    await using opened = await openConsole('', { url: server.url });
    const { page } = opened;
    await table(page).getByRole('link', { name: 'one' }).waitFor();
    await server.put('aaa_new', 'a\n1\n2\n3\n');
    const row = table(page).getByRole('row').filter({ hasText: 'aaa_new' });
    await row.getByRole('cell', { name: '3', exact: true }).waitFor();
    await ask(`${server.url}/handles/aaa_new`, { method: 'DELETE' });
    await row.waitFor({ state: 'detached' });
  });
});

describeInBrowser('the view of a frame', () => {
  let server: ConsoleServer;
  beforeAll(async () => {
    server = await startConsoleServer();
  });
  afterAll(() => server[Symbol.asyncDispose]());
  const open = (fragment: string) => openConsole(fragment, { url: server.url });

  test('says how to begin where there is no frame', async () => {
    await using opened = await open('');
    const { page } = opened;
    await page.getByRole('heading', { name: 'No frames yet' }).waitFor();
    expect(await violationsOf(page)).toEqual([]);
    await page.getByRole('link', { name: 'Upload a file' }).click();
    await page.waitForFunction(() => location.hash === '#/upload');
  });

  test('shows what is known of a column when one asks', async () => {
    await server.put('profiled', 'city,degrees\nOslo,-7\nRome,12\nRome,\n');
    await using opened = await open('#/frames/profiled?tab=columns');
    const { page } = opened;
    await page.getByRole('button', { name: /city/ }).click();
    await page.getByText('Rome').first().waitFor();
    await server.putSql('unlike', 'SELECT range AS n, range % 7919 AS k FROM range(30000)');
    await page.goto(`${server.url}/#/frames/unlike?tab=columns`);
    for (const [column, different] of [
      ['n', '30,000, all'],
      ['k', '7,919'],
    ] as const) {
      await page
        .locator('.column-item', { has: page.locator('.column-name', { hasText: column }) })
        .getByRole('button')
        .click();
      await page.getByText(different, { exact: true }).waitFor();
    }
    // Each value of the first one is there once: none is a common one.
    expect(await page.getByText('Most common values').count()).toBe(1);
  });

  test('drops a frame after a question', async () => {
    await server.put('doomed', 'a\n1\n');
    await using opened = await open('#/frames/doomed?tab=details');
    const { page } = opened;
    await page.getByRole('button', { name: 'Drop the frame' }).click();
    const question = page.getByRole('dialog', { name: 'Drop doomed?' });
    await question.waitFor();
    await page.keyboard.press('Escape');
    await question.waitFor({ state: 'detached' });
    expect((await ask(`${server.url}/handles/doomed`)).status).toBe(200);
    await page.getByRole('button', { name: 'Drop the frame' }).click();
    await question.getByRole('button', { name: 'Drop', exact: true }).click();
    await page.waitForFunction(() => location.hash === '#/frames');
    expect((await ask(`${server.url}/handles/doomed`)).status).toBe(410);
  });

  test('exports exactly the rows that were asked for', async () => {
    await server.putSql('numbers', `SELECT range AS id, '=' || range AS text FROM range(1000)`);
    await using directory = await temporaryDirectory();
    await using opened = await open('#/frames/numbers');
    const { page } = opened;
    await loadedRows(page);
    const exported = async (format: string, first: string, last: string): Promise<Buffer> => {
      await page.getByRole('button', { name: 'Export', exact: true }).click();
      const dialog = page.getByRole('dialog', { name: 'Export numbers' });
      await dialog.getByLabel('Format').selectOption(format);
      await dialog.getByLabel('First row').fill(first);
      await dialog.getByLabel('Last row').fill(last);
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        dialog.getByRole('button', { name: 'Download' }).click(),
      ]);
      await dialog.waitFor({ state: 'detached' });
      const path = join(directory.path, format);
      await download.saveAs(path);
      return readFile(path);
    };
    expect((await exported('csv', '10', '12')).toString().trim().split(/\r?\n/)).toEqual([
      expect.stringMatching(/id.*text/),
      expect.stringMatching(/^9,.*'=9/),
      expect.stringMatching(/^10,.*'=10/),
      expect.stringMatching(/^11,.*'=11/),
    ]);
    expect((await exported('parquet', '', '')).subarray(0, 4).toString()).toBe('PAR1');
  });
});
