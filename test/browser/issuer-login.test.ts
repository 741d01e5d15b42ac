import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../support/frame-store.ts';
import { ask } from '../support/http-client.ts';
import { TestIssuer } from '../support/issuer.ts';
import { violationsOf } from './support/axe.ts';
import { describeInBrowser, openConsole } from './support/console-page.ts';
import { type ClosedConsoleServer, startClosedConsoleServer } from './support/console-server.ts';

/** The browser writes every answer of 401 as an error. */
const allowed = /status of 401/;

describeInBrowser('the login at an issuer', () => {
  let issuer: TestIssuer;
  let server: ClosedConsoleServer;
  beforeAll(async () => {
    issuer = await TestIssuer.start();
    const corp = {
      ISSUER: issuer.url,
      AUDIENCE: 'framehold',
      TENANT: 'default',
      ROLE_CLAIM: 'groups',
      ROLES: 'quants=write',
      CONSOLE_CLIENT_ID: 'framehold-console',
    };
    const env = Object.entries(corp).map(([key, value]) => [`FRAMEHOLD_AUTH_ISSUERS_CORP_${key}`, value]);
    server = await startClosedConsoleServer({ env: Object.fromEntries(env) });
    await eventually(async () => 'login' in (await ask(`${server.url}/info`)).json());
    await server.put('prices', 'symbol,price\nBTC,1\nETH,2\n');
  });
  afterAll(async () => {
    await server[Symbol.asyncDispose]();
    issuer.stop();
  });

  const open = (fragment: string) => openConsole(fragment, { url: server.url, allowed });

  test('leads there and back to the same place, and leaves neither code nor token where others see them', async () => {
    await using opened = await open('#/frames/prices');
    const { page } = opened;
    const button = page.getByRole('button', { name: 'Log in with corp' });
    await button.waitFor();
    expect(await violationsOf(page)).toEqual([]);
    await button.click();
    await page.getByRole('gridcell', { name: 'ETH' }).waitFor();
    expect(page.url()).toMatch(/\/#\/frames\/prices/);
    expect(await page.evaluate(() => [sessionStorage.getItem('framehold.login'), document.cookie])).toEqual([null, '']);
  });

  test('tells why it failed, and takes no answer that was not asked for', async () => {
    await using opened = await open('#/frames/prices');
    const { page } = opened;
    issuer.refusesLogins = true;
    await page.getByRole('button', { name: 'Log in with corp' }).click();
    await page.getByRole('alert').getByText('corp refused the login: access_denied').waitFor();
    issuer.refusesLogins = false;
    await page.goto(`${server.url}/?code=stolen&state=forged#/frames/prices`);
    await page.getByRole('alert').getByText('did not begin in this tab').waitFor();
    expect(page.url()).not.toContain('stolen');
  });
});
