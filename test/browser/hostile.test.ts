import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeInBrowser, openConsole } from './support/console-page.ts';
import { type ConsoleServer, startConsoleServer } from './support/console-server.ts';
import { loadedRows } from './support/grid.ts';

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
