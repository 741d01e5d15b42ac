import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeInBrowser, openConsole } from './support/console-page.ts';
import { type ConsoleServer, startConsoleServer } from './support/console-server.ts';

/** Landmarks, headings, tabs and tables of a page, as those have it who do not see it. */
const structureOf = (page: Page): Promise<readonly string[]> =>
  page.evaluate(() => {
    const parts = 'header, nav, main, h1, [role=tablist], [role=grid], [role=table], table';
    return [...document.querySelectorAll(parts)].map((element) => {
      const name = element.getAttribute('aria-label') ?? (element.tagName === 'H1' ? element.textContent : '');
      return `${element.getAttribute('role') ?? element.tagName.toLowerCase()} ${name}`.trim();
    });
  });

describeInBrowser('the views of the console', () => {
  let server: ConsoleServer;
  beforeAll(async () => {
    server = await startConsoleServer();
    await server.putSql(
      'prices',
      `SELECT '2026-01-01'::TIMESTAMP + to_seconds(range) AS at, sin(range / 500) AS price, range AS id FROM range(20000)`,
    );
  });
  afterAll(() => server[Symbol.asyncDispose]());

  const views: readonly [
    name: string,
    fragment: string,
    isThere: (page: Page) => Promise<void>,
    parts: readonly string[],
  ][] = [
    [
      'the list',
      '#/frames',
      (page) => page.getByRole('link', { name: 'prices' }).waitFor(),
      ['h1 Frames', 'table Frames'],
    ],
    [
      'a frame',
      '#/frames/prices',
      (page) => page.getByRole('gridcell').first().waitFor(),
      ['h1 prices', 'tablist Parts of the frame', 'grid Rows of prices'],
    ],
    [
      'SQL',
      '#/sql',
      (page) => page.locator('.cm-content').waitFor(),
      ['h1 SQL', 'tablist Statements', 'tablist What of the result'],
    ],
    ['uploads', '#/upload', (page) => page.getByRole('heading', { name: 'Upload' }).waitFor(), ['h1 Upload']],
  ];

  test.each(views)('have one structure on wide and narrow windows: %s', async (_, fragment, isThere, parts) => {
    await using opened = await openConsole(fragment, { url: server.url });
    for (const width of [1280, 390]) {
      await opened.page.setViewportSize({ width, height: 800 });
      await isThere(opened.page);
      expect(await structureOf(opened.page), `${width} px`).toEqual(['header', 'nav Views', 'main', ...parts]);
    }
  });

  test('draw as many points as there are pixels for, and say of how many', async () => {
    await using opened = await openConsole('#/frames/prices?tab=plot', { url: server.url });
    const { page } = opened;
    await page
      .getByText(/^[\d,]+ of 20,000 points/)
      .first()
      .waitFor();
    const isDrawn = await page
      .locator('canvas')
      .first()
      .evaluate((canvas) => {
        const { width, height } = canvas as HTMLCanvasElement;
        const pixels = (canvas as HTMLCanvasElement).getContext('2d')?.getImageData(0, 0, width, height).data ?? [];
        return new Set(pixels).size > 10;
      });
    expect(isDrawn).toBe(true);
  });

  test('take a file, show the types that were found, keep it as a frame and lead there', async () => {
    await using opened = await openConsole('#/upload', { url: server.url });
    const { page } = opened;
    const name = '<b>weather<b>.csv';
    const buffer = Buffer.from('day,city,degrees\n2026-01-05,Oslo,-7.5\n2026-01-05,Rome,12\n');
    await page.locator('input[type=file]').first().setInputFiles({ name, mimeType: 'text/csv', buffer });
    await page.getByText(name).first().waitFor();
    await page.getByText('DOUBLE').first().waitFor({ state: 'attached' });
    await page.getByLabel('Name of the frame').fill('weather');
    await page.getByRole('button', { name: 'Keep as a frame' }).click();
    await page.getByRole('link', { name: 'Open weather' }).click();
    await page.getByRole('gridcell', { name: 'Rome' }).waitFor();
  });

  test('show statements of others that run, and cancel them', async () => {
    const sql = 'select count(*) from range(1000000) a, range(1000000) b where (a.range * b.range) % 7 = 3';
    const ended = fetch(`${server.url}/sql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ sql }),
    });
    await using opened = await openConsole('#/server', { url: server.url });
    const { page } = opened;
    await page.getByText('select count(*)').first().waitFor();
    await page
      .getByRole('button', { name: /Cancel/ })
      .first()
      .click();
    const dialog = page.getByRole('dialog');
    if ((await dialog.count()) > 0)
      await dialog
        .getByRole('button', { name: /Cancel|End/ })
        .last()
        .click();
    expect((await ended).status).toBeGreaterThanOrEqual(400);
  });
});
