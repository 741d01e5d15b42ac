import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { violationsOf } from './support/axe.ts';
import { describeInBrowser, openConsole } from './support/console-page.ts';
import { type ClosedConsoleServer, startClosedConsoleServer } from './support/console-server.ts';
import { goToRow, loadedRows } from './support/grid.ts';

/** The browser writes every answer of 401 as an error. */
const allowed = /status of 401/;

async function logIn(page: Page, token: string): Promise<void> {
  await page.getByLabel('Token', { exact: true }).fill(token);
  await page.keyboard.press('Enter');
}

describeInBrowser('the login of the console', () => {
  let server: ClosedConsoleServer;
  beforeAll(async () => {
    server = await startClosedConsoleServer();
    await server.put('prices', 'symbol,price\nBTC,1\nETH,2\n');
  });
  afterAll(() => server[Symbol.asyncDispose]());

  const open = (fragment: string) => openConsole(fragment, { url: server.url, allowed });
  test('stands before every view, and gives way to the one that was asked for', async () => {
    const { token } = await server.makeToken('read');
    await using opened = await open('#/server');
    const { page } = opened;
    await page.getByRole('heading', { name: 'Log in' }).waitFor();
    expect(await violationsOf(page)).toEqual([]);
    await logIn(page, token);
    await page.getByRole('heading', { name: 'Server' }).waitFor();
    expect(new URL(page.url()).hash).toBe('#/server');
  });

  test('says that a token is not taken, and takes another', async () => {
    const { token } = await server.makeToken('read');
    await using opened = await open('');
    const { page } = opened;
    const asked: string[] = [];
    page.on('request', (request) => {
      if (request.headers().authorization === 'Bearer fh_wrong') asked.push(request.url());
    });
    await logIn(page, 'fh_wrong');
    await page.getByRole('alert').getByText('does not take this token').waitFor();
    expect(asked).toHaveLength(1);
    await logIn(page, token);
    await page.getByText('prices').first().waitFor();
  });

  test('keeps the token for its tab alone: neither in the address, nor in what other tabs can read', async () => {
    const { token } = await server.makeToken('read');
    await using opened = await open('');
    const { page } = opened;
    await logIn(page, token);
    await page.getByText('prices').first().waitFor();
    expect(page.url()).not.toContain(token);
    expect(await page.evaluate(() => JSON.stringify({ ...localStorage }) + document.cookie)).not.toContain(token);
    await page.reload();
    await page.getByText('prices').first().waitFor();
    const other = await page.context().newPage();
    await other.goto(`${server.url}/#/frames`);
    await other.getByRole('heading', { name: 'Log in' }).waitFor();
  });

  test('comes in mid-work where the token ends, and leads back to the same place', async () => {
    const first = await server.makeToken('read');
    const second = await server.makeToken('read');
    await using opened = await open('');
    const { page } = opened;
    await logIn(page, first.token);
    await page.getByText('prices').first().waitFor();
    await first.revoke();
    await page.goto(`${server.url}/#/frames/prices`);
    await page.getByRole('heading', { name: 'Log in' }).waitFor();
    expect(await page.evaluate(() => JSON.stringify({ ...sessionStorage }))).not.toContain(first.token);
    await logIn(page, second.token);
    await page.getByRole('gridcell', { name: 'ETH' }).waitFor();
    expect(new URL(page.url()).hash).toContain('#/frames/prices');
  });

  test('comes while rows are shown, and the next rows come behind it', async () => {
    const first = await server.makeToken('read');
    const second = await server.makeToken('read');
    await server.putSql('numbers', 'SELECT range AS id FROM range(100000)');
    await using opened = await open('#/frames/numbers');
    const { page } = opened;
    await logIn(page, first.token);
    await goToRow(page, 70_000);
    // The address has the row once scrolling has ended, and the grid begins there again.
    await page.waitForURL(/row=70000/);
    await loadedRows(page);
    await first.revoke();
    await goToRow(page, 30_000);
    await page.getByRole('heading', { name: 'Log in' }).waitFor();
    await logIn(page, second.token);
    const rows = await loadedRows(page);
    // The row that was seen, or the one that was asked for behind it.
    expect(rows.some(({ number }) => number === 70_000 || number === 30_000)).toBe(true);
    await goToRow(page, 30_000);
    await page.getByRole('gridcell', { name: '29999', exact: true }).waitFor();
  });

  test('comes while a statement runs, and leaves the statement where it was', async () => {
    const first = await server.makeToken('read');
    const second = await server.makeToken('read');
    const sql = 'select count(*) as n from range(1e11::bigint)';
    await using opened = await openConsole(`#/sql?q=${encodeURIComponent(sql)}`, {
      url: server.url,
      // The statement that ran is cancelled by the next one, and not there any more.
      allowed: /status of 40[14]/,
    });
    const { page } = opened;
    await logIn(page, first.token);
    await page.locator('.cm-content').getByText('1e11').waitFor();
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await page.getByRole('button', { name: 'Cancel' }).first().waitFor();
    await first.revoke();
    await page.getByRole('heading', { name: 'Log in' }).waitFor();
    await logIn(page, second.token);
    await page.locator('.cm-content').getByText('1e11').waitFor();
    await page.locator('.cm-content').click();
    await page.keyboard.press('Control+a');
    await page.keyboard.insertText('select 40 + 2 as answer');
    await page.keyboard.press('Control+Enter');
    await page.getByRole('gridcell', { name: '42', exact: true }).waitFor();
  });

  test('shows nothing of what was seen before to somebody else who logs in', async () => {
    const [first, second] = [await server.makeToken('write'), await server.makeToken('read')];
    await using opened = await open(`#/sql?q=${encodeURIComponent("select 'of the ' || 'first' as a")}`);
    const { page } = opened;
    await logIn(page, first.token);
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await page.getByRole('gridcell', { name: 'of the first' }).waitFor();
    await first.revoke();
    await page.getByRole('link', { name: 'Frames' }).click();
    await page.getByRole('heading', { name: 'Log in' }).waitFor();
    await logIn(page, second.token);
    await page.getByText('prices').first().waitFor();
    await page.getByRole('link', { name: 'SQL' }).click();
    await page.getByText('runs the statement under the cursor').waitFor();
    expect(await page.getByRole('gridcell', { name: 'of the first' }).count()).toBe(0);
  });

  test('is where logging out leads', async () => {
    const { token } = await server.makeToken('read');
    await using opened = await open('');
    const { page } = opened;
    await logIn(page, token);
    await page.getByRole('button', { name: 'Log out' }).click();
    await page.getByRole('heading', { name: 'Log in' }).waitFor();
    await page.reload();
    await page.getByRole('heading', { name: 'Log in' }).waitFor();
  });

  test('offers nothing to readers that only writers may do', async () => {
    const reader = await server.makeToken('read');
    await using opened = await open('#/frames/prices');
    const { page } = opened;
    await logIn(page, reader.token);
    await page.getByRole('gridcell', { name: 'ETH' }).waitFor();
    expect(await page.getByRole('button', { name: /drop/i }).count()).toBe(0);
  });
});

describeInBrowser('a console that everybody may read', () => {
  let server: ClosedConsoleServer;
  beforeAll(async () => {
    server = await startClosedConsoleServer({ flags: ['--auth-anonymous', 'default:read', '--http-max-limit', '50'] });
    await server.putSql('numbers', 'SELECT range AS id FROM range(1000)');
  });
  afterAll(() => server[Symbol.asyncDispose]());

  const open = (fragment: string) => openConsole(fragment, { url: server.url, allowed });

  test('shows the rows at once, offers a login, and goes on without', async () => {
    await using opened = await open('#/frames/numbers?row=500');
    const { page } = opened;
    await page.getByRole('gridcell', { name: '499', exact: true }).waitFor();
    await page.getByRole('button', { name: 'Log in', exact: true }).click();
    await page.getByRole('heading', { name: 'Log in' }).waitFor();
    await page.getByRole('button', { name: 'Go on without' }).click();
    await page.getByRole('gridcell', { name: '499', exact: true }).waitFor();
  });

  test('leads back to the rows after logging in, and after logging out', async () => {
    const { token } = await server.makeToken('write');
    await using opened = await open('#/frames/numbers');
    const { page } = opened;
    await page.getByRole('button', { name: 'Log in', exact: true }).click();
    await logIn(page, token);
    await page.getByText('default · write').waitFor();
    await page.getByRole('gridcell', { name: '0', exact: true }).waitFor();
    await page.getByRole('button', { name: 'Log out' }).click();
    await page.getByText('default · read').waitFor();
    await page.getByRole('gridcell', { name: '0', exact: true }).waitFor();
    expect(await page.getByRole('heading', { name: 'Log in' }).count()).toBe(0);
  });

  test('may be read on without a login where the token ends', async () => {
    const { token, revoke } = await server.makeToken('read');
    await using opened = await open('#/frames/numbers');
    const { page } = opened;
    await page.getByRole('button', { name: 'Log in', exact: true }).click();
    await logIn(page, token);
    await page.getByRole('button', { name: 'Log out' }).waitFor();
    await page.getByRole('gridcell', { name: '0', exact: true }).waitFor();
    await revoke();
    await goToRow(page, 900);
    await page.getByRole('button', { name: 'Go on without' }).click();
    await goToRow(page, 900);
    await page.getByRole('gridcell', { name: '899', exact: true }).waitFor();
  });
});
