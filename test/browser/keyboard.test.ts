import type { Page } from 'playwright-core';
import { expect, inject, test } from 'vitest';
import { describeInBrowser, openConsole } from './support/console-page.ts';

/** What has the focus, by the name that it tells. */
const focused = (page: Page): Promise<string> =>
  page.evaluate(() => {
    const { activeElement } = document;
    return activeElement?.getAttribute('aria-label') ?? activeElement?.textContent?.trim() ?? '';
  });

describeInBrowser('the console by keyboard alone', () => {
  test('opens a frame, goes from part to part, and is in the new view with the next Tab', async () => {
    await using opened = await openConsole('#/frames');
    const { page } = opened;
    await page.getByRole('link', { name: 'trades' }).waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('tra');
    await page.getByRole('link', { name: 'types' }).waitFor({ state: 'detached' });
    await page.keyboard.press('ArrowDown');
    expect(await focused(page)).toBe('trades');
    await page.keyboard.press('Enter');
    await page.getByRole('gridcell').first().waitFor();
    await page.waitForFunction(() => document.activeElement?.id === 'content');
    await page.keyboard.press('Tab');
    expect(await focused(page)).toBe('All frames');
    await page.getByRole('tab', { name: 'Rows' }).focus();
    for (const part of ['Columns', 'Plot', 'Details', 'Rows']) {
      await page.keyboard.press('ArrowRight');
      await page.getByRole('tab', { name: part, selected: true }).waitFor();
      expect(await focused(page)).toBe(part);
    }
    await page.keyboard.press('End');
    await page.getByRole('tab', { name: 'Details', selected: true }).waitFor();
  });

  test('goes from part to part of a result', async () => {
    await using opened = await openConsole('#/sql');
    const { page } = opened;
    await page.getByRole('tab', { name: 'Result' }).focus();
    await page.keyboard.press('ArrowLeft');
    await page.getByText('Nothing ran yet.').waitFor();
    expect(await focused(page)).toBe('Messages');
    await page.keyboard.press('Shift+Tab');
    expect(await focused(page)).toBe('Height of the editor');
  });

  test('goes to a row by the button below the rows, and then has the rows', async () => {
    await using opened = await openConsole('#/frames/trades');
    const { page } = opened;
    await page.getByRole('gridcell').first().waitFor();
    await page.getByRole('button', { name: 'Go to row' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor();
    await page.keyboard.type('5000');
    await page.keyboard.press('Enter');
    await page.getByRole('gridcell', { name: '4999', exact: true }).waitFor();
    expect(await focused(page)).toContain('Rows of trades');
  });

  test('closes a dialog that a command of the palette opened, and is where it was', async () => {
    await using opened = await openConsole('#/frames/trades');
    const { page } = opened;
    await page.getByRole('gridcell').first().waitFor();
    await page.getByRole('tab', { name: 'Rows' }).focus();
    await page.keyboard.press('Control+k');
    await page.keyboard.type('export trades');
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog', { name: 'Export trades' });
    await dialog.waitFor();
    expect(await dialog.evaluate((element) => element.contains(document.activeElement))).toBe(true);
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    expect(await focused(page)).toBe('Rows');
  });

  test('closes the choice of columns of a plot by Escape', async () => {
    await using opened = await openConsole('#/frames/trades?tab=plot');
    const { page } = opened;
    const summary = page.getByLabel(/^Y: /);
    await summary.focus();
    await page.keyboard.press('Enter');
    await page.getByRole('group', { name: 'Columns of y' }).waitFor();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Escape');
    await page.getByRole('group', { name: 'Columns of y' }).waitFor({ state: 'hidden' });
    expect(await focused(page)).toMatch(/^Y: /);
  });

  test.each(['light', 'dark'] as const)('shows where it is when it is %s', async (theme) => {
    await using opened = await openConsole('#/frames/trades', { theme });
    const { page } = opened;
    await page.getByRole('gridcell').first().waitFor();
    const stops = new Set<string>();
    for (let stop = 0; stop < 24; stop++) {
      await page.keyboard.press('Tab');
      const { name, isMarked } = await page.evaluate(() => {
        const element = document.activeElement ?? document.body;
        const isLine = (one: Element): boolean => {
          const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(one);
          return (outlineStyle !== 'none' && Number.parseFloat(outlineWidth) >= 2) || boxShadow !== 'none';
        };
        const around = element.parentElement;
        return {
          name: element.getAttribute('aria-label') ?? element.textContent?.trim() ?? '',
          isMarked: element === document.body || isLine(element) || (around !== null && isLine(around)),
        };
      });
      expect(isMarked, name).toBe(true);
      stops.add(name.slice(0, 30));
    }
    expect([...stops]).toEqual(
      expect.arrayContaining(['Framehold', 'SQL', 'Export', 'Rows', 'Rows of trades', 'Copy as …']),
    );
  });
});

describeInBrowser('the page of the console', () => {
  test('moves nothing where the system asks for that', async () => {
    const moving = (page: Page): Promise<number> =>
      page.evaluate(
        () =>
          [...document.querySelectorAll('*')].filter((element) => {
            const { transitionDuration, animationName } = getComputedStyle(element);
            return transitionDuration !== '0s' || animationName !== 'none';
          }).length,
      );
    for (const motion of ['reduce', 'no-preference'] as const) {
      await using opened = await openConsole('#/upload', { motion });
      await opened.page.getByRole('button', { name: 'Choose files' }).waitFor();
      expect((await moving(opened.page)) > 0, motion).toBe(motion === 'no-preference');
    }
  });

  test.each([
    ['wide', 1280],
    ['narrow', 390],
  ])('has its navigation in place before a script runs, and leaves it there: %s', async (_, width) => {
    await using opened = await openConsole('#/upload', { width, allowed: /ERR_FAILED/ });
    const { page } = opened;
    const places = (): Promise<unknown> =>
      page.evaluate(() =>
        [...document.querySelectorAll('.navigation a.brand, .navigation nav a')].map((link) => {
          const { left, top, width, height } = link.getBoundingClientRect();
          const icon = link.querySelector('path')?.getAttribute('d');
          return [link.getAttribute('href'), link.textContent, icon, left, top, width, height];
        }),
      );
    await page.getByRole('heading', { name: 'Upload' }).waitFor();
    const after = await places();
    await page.route(/\.js$/, (route) => route.abort());
    await page.goto(`${inject('demoUrl')}/?without`);
    expect(await places()).toEqual(after);
    expect(after).toHaveLength(5);
  });
});
