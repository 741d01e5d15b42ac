import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { violationsOf } from './support/axe.ts';
import { describeInBrowser, openConsole } from './support/console-page.ts';
import { type ClosedConsoleServer, startClosedConsoleServer } from './support/console-server.ts';

/** The browser writes every answer of 401 as an error. */
const allowed = /status of 401/;

describeInBrowser('the login of the console', () => {
  let server: ClosedConsoleServer;
  beforeAll(async () => {
    server = await startClosedConsoleServer();
    await server.put('prices', 'symbol,price\nBTC,1\nETH,2\n');
  });
  afterAll(() => server[Symbol.asyncDispose]());

  const open = (fragment: string) => openConsole(fragment, { url: server.url, allowed });
  const logIn = async (page: Page, token: string): Promise<void> => {
    await page.getByLabel('Token', { exact: true }).fill(token);
    await page.keyboard.press('Enter');
  };

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
