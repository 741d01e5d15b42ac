import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Cleanup } from '../../src/core/async/cleanup.ts';
import { clusterVenv } from '../cluster/support/cluster-venv.ts';
import { startSail } from '../cluster/support/sail.ts';
import { ask } from '../support/http-client.ts';
import { needed } from '../support/missing.ts';
import { startQuestDb } from '../support/questdb.ts';
import { questdbUnavailable } from '../support/questdb-unavailable.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { type ConsolePage, describeInBrowser, openConsole, type PageOptions } from './support/console-page.ts';
import { type ConsoleServer, startConsoleServer } from './support/console-server.ts';
import { alreadyEnded, editor, result, run, statementsOf } from './support/sql-page.ts';

const hasQuestDb = (await questdbUnavailable()) === undefined;
const hasSail = (await needed('the console with Sail', clusterVenv)) !== undefined;

describeInBrowser('the SQL view with other engines', () => {
  const cleanup = new Cleanup();
  let server: ConsoleServer;

  beforeAll(async () => {
    const config = join(cleanup.use(await temporaryDirectory()).path, 'config.toml');
    const dataDir = cleanup.use(await temporaryDirectory()).path;
    const [questdb, sail] = await Promise.all([
      hasQuestDb ? startQuestDb() : undefined,
      hasSail ? startSail() : undefined,
    ]);
    if (questdb !== undefined) cleanup.use(questdb);
    if (sail !== undefined) cleanup.use(sail);
    await writeFile(
      config,
      [
        ...(questdb === undefined ? [] : ['[tsdb]', `http_url = "${questdb.url}"`]),
        ...(sail === undefined
          ? []
          : ['[engines.spark]', 'kind = "spark-connect"', `url = "${sail.url}"`, `path_map = "${dataDir}/cold"`]),
      ].join('\n'),
    );
    server = cleanup.use(await startConsoleServer({ dataDir, flags: ['--config', config] }));
    await server.putSql('numbers', 'select range as n, range % 7 as day from range(200000)');
    if (questdb === undefined) return;
    const made = `create table ticks as (select x, rnd_double() price, timestamp_sequence('2026-01-01', 60000000) ts
      from long_sequence(2000)) timestamp(ts) partition by day`;
    expect((await ask(`${questdb.url}/exec?query=${encodeURIComponent(made)}`)).status).toBe(200);
  });
  afterAll(() => cleanup[Symbol.asyncDispose]());

  const open = (fragment = '#/sql', options: PageOptions = {}): Promise<ConsolePage> =>
    openConsole(fragment, { url: server.url, ...options });
  const choose = async (page: Page, engine: string): Promise<void> => {
    await editor(page).waitFor();
    await page.getByLabel('Engine').selectOption(engine);
  };

  describe.skipIf(!hasQuestDb)('a real QuestDB', () => {
    test('runs a statement there, and completes the names of its tables', async () => {
      await using opened = await open();
      const { page } = opened;
      await expect
        .poll(() => page.getByLabel('Engine').locator('option').allTextContents())
        .toContainEqual(expect.stringMatching(/^tsdb · up/));
      await Promise.all([
        page.waitForResponse((response) => response.url().includes('information_schema')),
        choose(page, 'tsdb'),
      ]);
      await editor(page).click();
      await page.keyboard.type('select max(x) most, 9007199254740993 big from tic', { delay: 10 });
      await page
        .getByRole('option', { name: /^ticks/ })
        .first()
        .click();
      await page.keyboard.press('Control+Enter');
      for (const text of ['2000', '9007199254740993'])
        await result(page).getByText(text, { exact: true }).first().waitFor();
      await result(page)
        .getByText(/^1 row · .* on tsdb/)
        .waitFor();
    });

    test('has live tables that a statement over frames reads, and completes their names and columns', async () => {
      await using opened = await open();
      const { page } = opened;
      await editor(page).waitFor();
      await editor(page).click();
      await Promise.all([
        page.waitForResponse((response) => response.url().includes('information_schema')),
        page.keyboard.type('select count(*) many, max(t.pr', { delay: 10 }),
      ]);
      await page.keyboard.press('Escape');
      await page.keyboard.press('Control+A');
      await page.keyboard.type('select count(*) many from numbers join tsdb.tic', { delay: 10 });
      await page.getByRole('option', { name: /ticks/ }).first().click();
      await editor(page).getByText('tsdb.ticks').waitFor();
      await page.keyboard.type(' t on n = t.x where t.pri', { delay: 10 });
      await page
        .getByRole('option', { name: /^price/ })
        .first()
        .click();
      await page.keyboard.type(' >= 0', { delay: 10 });
      await page.keyboard.press('Control+Enter');
      await result(page).getByText('2000', { exact: true }).first().waitFor();
      await result(page)
        .getByText(/^1 row · /)
        .waitFor();
    });

    test('tells where an error is, at its place in the text', async () => {
      await using opened = await open('#/sql', { allowed: /status of 400/ });
      const { page } = opened;
      await choose(page, 'tsdb');
      await run(page, 'select x from ticks;\nselect prise from ticks');
      await result(page).getByRole('alert').getByText('prise').first().waitFor();
      expect(await page.locator('.cm-error-mark').allTextContents()).toEqual(['prise']);
    });

    test('samples by time, and the plot shows it', async () => {
      await using opened = await open();
      const { page } = opened;
      await choose(page, 'tsdb');
      await run(page, 'select ts, avg(price) average from ticks sample by 1h');
      await result(page).getByText('34 rows ·').waitFor();
      await result(page).getByRole('tab', { name: 'Plot' }).click();
      await result(page).getByText('all 34 rows').waitFor();
      expect(await result(page).getByLabel('X').inputValue()).toBe('ts');
      await result(page).getByRole('button', { name: 'Table' }).click();
      await result(page).getByRole('cell', { name: '2026-01-01 00:00:00' }).first().waitFor();
    });

    test('is not asked for anything when a link is opened', async () => {
      const query = { q: 'drop table ticks', engine: 'tsdb', run: '1', plot: '{"kind":"line"}' };
      await using opened = await open(`#/sql?${new URLSearchParams(query)}`);
      const { page } = opened;
      const asked: string[] = [];
      page.on('request', (request) => asked.push(request.url()));
      await editor(page).getByText('drop table ticks').waitFor();
      await expect.poll(() => page.getByLabel('Engine').inputValue()).toBe('tsdb');
      await page.reload();
      await editor(page).getByText('drop table ticks').waitFor();
      await page.getByText('Ctrl+Enter').or(page.getByText('Run a statement')).first().waitFor();
      expect(asked.filter((url) => /^\/(exec|sql|plot|exp)$/.test(new URL(url).pathname))).toEqual([]);
      await run(page, 'select count() from ticks');
      await result(page).getByText('2000', { exact: true }).first().waitFor();
    });
  });

  describe.skipIf(!hasSail)('a cluster', () => {
    test('runs a statement over a frame, and can be cancelled', async () => {
      await using opened = await open('#/sql', { allowed: alreadyEnded });
      const { page } = opened;
      await expect
        .poll(() => page.getByLabel('Engine').locator('option').allTextContents())
        .toContainEqual(expect.stringMatching(/^spark · up · .*Sail/));
      await choose(page, 'spark');
      await run(page, 'select day, count(*) as many from numbers group by day order by day');
      await result(page)
        .getByText(/^7 rows · .* on spark/)
        .waitFor();
      expect(await page.getByRole('button', { name: 'Explain' }).isDisabled()).toBe(true);
      await run(page, 'select count(*) from numbers a, numbers b where (a.n * b.n) % 7 = 3');
      await result(page)
        .getByText(/running for .* on spark/)
        .waitFor();
      await expect.poll(() => statementsOf(server.url)).toMatchObject([{ engine: 'spark' }]);
      await page.getByRole('button', { name: 'Cancel' }).click();
      await result(page).getByText('cancelled after').first().waitFor();
      await expect.poll(() => statementsOf(server.url)).toEqual([]);
      // Sail may be busy with it for longer: it cannot always stop. This server is free.
      await choose(page, 'local');
      await run(page, "select 'free again' as text");
      await result(page).getByText('free again', { exact: true }).waitFor();
    });
  });
});
