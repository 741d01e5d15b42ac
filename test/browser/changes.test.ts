import { readFile, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { freePort } from '../support/free-port.ts';
import { ask } from '../support/http-client.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { describeInBrowser, openConsole } from './support/console-page.ts';
import { type ConsoleServer, startConsoleServer } from './support/console-server.ts';
import { goToRow, grid, loadedRows, shownRows } from './support/grid.ts';

/** The browser writes every answer of an error as one. */
const allowed = /status of (404|409|410|500)/;
const numbers = (rows: number): string => `SELECT range AS id, md5(range::VARCHAR) AS text FROM range(${rows})`;

describeInBrowser('a frame that changes while it is shown', () => {
  let server: ConsoleServer;
  beforeAll(async () => {
    server = await startConsoleServer();
  });
  afterAll(() => server[Symbol.asyncDispose]());
  const openFrame = (fragment: string) => openConsole(fragment, { url: server.url, allowed });
  const drop = (handle: string) => ask(`${server.url}/handles/${handle}`, { method: 'DELETE' });

  test('says that it was dropped, keeps what was loaded, and comes back when it is put again', async () => {
    await server.putSql('dropped', numbers(100_000));
    await using opened = await openFrame('#/frames/dropped');
    const { page } = opened;
    await loadedRows(page);
    await drop('dropped');
    await page.getByRole('alert').getByText('was dropped').waitFor();
    expect((await loadedRows(page))[0]?.cells[0]).toBe('0');
    await goToRow(page, 90_000);
    await page.getByText('These rows cannot be had any more.').waitFor();
    await server.putSql('dropped', 'SELECT 7 AS seven');
    await page.getByRole('button', { name: 'Show the new version' }).click();
    await page.getByRole('gridcell', { name: '7', exact: true }).waitFor();
  });

  test.each(['columns', 'plot', 'details'])('says so in its part %s as well', async (tab) => {
    await server.putSql('elsewhere', numbers(10));
    await using opened = await openFrame(`#/frames/elsewhere?tab=${tab}`);
    const { page } = opened;
    await page.getByRole('tabpanel').waitFor();
    await page.getByText('10 rows').first().waitFor();
    await drop('elsewhere');
    await page.getByRole('alert').getByText('This frame was dropped').waitFor();
  });

  test('shows other columns only when one asks for them, and none of the old ones then', async () => {
    await server.putSql('columns', numbers(100_000));
    await using opened = await openFrame('#/frames/columns?row=5000&columns=text');
    const { page } = opened;
    await loadedRows(page);
    await server.putSql('columns', `SELECT 'new' AS word, range AS count, 1.5 AS share FROM range(100000)`);
    await page.getByRole('alert').getByText('was replaced').waitFor();
    await goToRow(page, 60_000);
    const cells = (await shownRows(page)).flatMap((row) => row.cells);
    expect(cells).not.toContain('new');
    await page.getByRole('button', { name: 'Show the new version' }).click();
    await page.getByRole('gridcell', { name: 'new', exact: true }).first().waitFor();
    const rows = await loadedRows(page);
    expect(await headings(page)).toEqual(['word', 'count', 'share']);
    expect(rows.filter((row) => row.cells[1]?.replaceAll(',', '') !== String(row.index))).toEqual([]);
  });

  test('ends where the new version does, however far one had scrolled', async () => {
    await server.putSql('shorter', numbers(100_000));
    await using opened = await openFrame('#/frames/shorter?row=90000');
    const { page } = opened;
    await loadedRows(page);
    await server.putSql('shorter', `SELECT range * 10 AS id FROM range(3)`);
    await page.getByRole('button', { name: 'Show the new version' }).click();
    await page.getByRole('gridcell', { name: '20', exact: true }).waitFor();
    expect((await loadedRows(page)).map(({ number, cells }) => [number, ...cells])).toEqual([
      [1, '0'],
      [2, '10'],
      [3, '20'],
    ]);
    await page.getByText('rows 1 to 3 of 3').waitFor();
  });

  test('says that it is damaged where its rows cannot be read, and keeps those that could', async () => {
    await server.putSql('damaged', numbers(400_000));
    await using opened = await openFrame('#/frames/damaged');
    const { page } = opened;
    await loadedRows(page);
    const path = join(server.dataDir, 'cold', 'damaged.parquet');
    const bytes = await readFile(path);
    const third = Math.floor(bytes.length / 3);
    // In place: its footer stays sound, and its time says that somebody wrote it.
    await writeFile(path, bytes.fill(0x55, third, 2 * third));
    await page.getByRole('button', { name: 'Show the new version' }).click();
    await goToRow(page, 250_000);
    await page.getByRole('alert').getByText('damaged is damaged: it is not readable').waitFor();
    expect((await shownRows(page)).every(({ isPending }) => isPending)).toBe(true);
    await goToRow(page, 1);
    expect((await loadedRows(page))[0]?.cells[0]).toBe('0');

    await writeFile(path, 'PAR1 this is no Parquet PAR1');
    await page.getByRole('alert').getByText('damaged on the disk').waitFor();
    await page.getByRole('button', { name: 'Show what is wrong' }).click();
    await page.getByRole('alert').getByText('This frame is damaged:').waitFor();
    await server.putSql('damaged', 'SELECT 7 AS seven');
    await page.getByRole('gridcell', { name: '7', exact: true }).waitFor();
  });
});

describeInBrowser('a page whose server is killed', () => {
  test('says so, and goes on by itself where it was: rows, list and SQL', async () => {
    await using directory = await temporaryDirectory();
    const options = { dataDir: directory.path, port: await freePort() };
    let server = await startConsoleServer(options);
    const openPage = (fragment: string) =>
      openConsole(fragment, { url: server.url, allowed: /ERR_|status of (404|5)/ });
    try {
      await server.putSql('numbers', numbers(100_000));
      await using rows = await openPage('#/frames/numbers');
      await using list = await openPage('#/frames');
      await using sql = await openPage(`#/sql?q=${encodeURIComponent('select 40 + 2 as answer')}`);
      await loadedRows(rows.page);
      await list.page.getByRole('link', { name: 'numbers' }).waitFor();
      await sql.page.locator('.cm-content').getByText('answer').waitFor();
      // By SIGKILL.
      await server[Symbol.asyncDispose]();
      await expect.poll(() => isListening(server.url)).toBe(false);
      await rows.page.getByText('The server cannot be reached').waitFor();
      await list.page.getByRole('alert').getByText('cannot be reached').waitFor();
      await goToRow(rows.page, 50_000);
      await sql.page.getByRole('button', { name: 'Run', exact: true }).click();
      await sql.page.getByRole('alert').getByText('cannot be reached').first().waitFor();

      server = await startConsoleServer(options);
      await rows.page.getByRole('gridcell', { name: '49999', exact: true }).waitFor();
      await expect.poll(() => rows.page.getByText('cannot be reached').count()).toBe(0);
      await server.putSql('later', 'SELECT 1 AS a');
      await list.page.getByRole('link', { name: 'later' }).waitFor();
      await expect.poll(() => list.page.getByText('cannot be reached').count()).toBe(0);
      await sql.page.getByRole('button', { name: 'Run', exact: true }).click();
      await sql.page.getByRole('gridcell', { name: '42', exact: true }).waitFor();
    } finally {
      await server[Symbol.asyncDispose]();
    }
  });
});

function headings(page: Page): Promise<readonly string[]> {
  return grid(page)
    .locator('[role=columnheader] .grid-name')
    .evaluateAll((all) => all.map((one) => one.textContent ?? ''));
}

function isListening(url: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    socket.on('connect', () => resolve(true)).on('error', () => resolve(false));
    socket.on('connect', () => socket.destroy());
  });
}
