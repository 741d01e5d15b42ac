import { expect, test } from 'vitest';
import { describeInBrowser, openConsole } from './support/console-page.ts';

const views = ['Frames', 'SQL', 'Upload', 'Server'];

describeInBrowser('the shell of the console', () => {
  test('has a banner, a navigation of four views and one main part', async () => {
    await using opened = await openConsole('');
    const { page } = opened;
    await page.getByRole('main').getByRole('heading').first().waitFor();
    expect(await page.getByRole('banner').count()).toBe(1);
    expect(await page.getByRole('main').count()).toBe(1);
    const links = page.getByRole('navigation', { name: 'Views' }).getByRole('link');
    expect(await links.allInnerTexts()).toEqual(views);
    expect(await links.first().getAttribute('aria-current')).toBe('page');
    expect(await page.title()).toBe('Frames · Framehold');
  });

  test('leads to every view by keyboard alone, and back by the history of the browser', async () => {
    await using opened = await openConsole('');
    const { page } = opened;
    for (const view of views) {
      await page.getByRole('navigation').getByRole('link', { name: view, exact: true }).focus();
      await page.keyboard.press('Enter');
      await page.waitForFunction((title) => document.title === title, `${view} · Framehold`);
    }
    await page.goBack();
    await page.waitForFunction(() => document.title === 'Upload · Framehold');
    expect(new URL(page.url()).hash).toBe('#/upload');
  });

  test('has a way past the navigation as its first stop', async () => {
    await using opened = await openConsole('#/server');
    const { page } = opened;
    await page.waitForFunction(() => document.title === 'Server · Framehold');
    await page.keyboard.press('Tab');
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Skip to the content');
    await page.keyboard.press('Enter');
    await page.waitForFunction(() => document.activeElement?.id === 'content');
    expect(await page.getByRole('alert').count()).toBe(0);
    expect(new URL(page.url()).hash).toBe('#/server');
  });

  test('runs commands by name: Ctrl+K, some letters, Enter', async () => {
    await using opened = await openConsole('');
    const { page } = opened;
    await page.getByRole('navigation').waitFor();
    await page.keyboard.press('Control+k');
    const input = page.getByRole('combobox', { name: 'Command' });
    await input.waitFor();
    await page.keyboard.type('go server');
    await page.getByRole('option', { selected: true, name: 'Go to Server' }).waitFor();
    await page.keyboard.press('Enter');
    await page.waitForFunction(() => document.title === 'Server · Framehold');
    expect(await page.getByRole('dialog').count()).toBe(0);
  });

  test('follows the system between dark and light, until somebody chooses, and remembers the choice', async () => {
    await using opened = await openConsole('', { theme: 'dark' });
    const { page } = opened;
    const brightness = () =>
      page.evaluate(() => {
        const [red = 0, green = 0, blue = 0] = (
          getComputedStyle(document.body).backgroundColor.match(/[\d.]+/g) ?? []
        ).map(Number);
        return red + green + blue;
      });
    const button = page.getByRole('button', { name: /^Theme/ });
    await button.waitFor();
    const dark = await brightness();
    await page.emulateMedia({ colorScheme: 'light' });
    const light = await brightness();
    expect(light).toBeGreaterThan(dark);
    await button.click();
    await button.click();
    expect(await button.textContent()).toContain('dark');
    expect(await brightness()).toBe(dark);
    await page.reload();
    await button.waitFor();
    expect(await brightness()).toBe(dark);
  });

  test('says that there is no such view, and offers the others', async () => {
    await using opened = await openConsole('#/nowhere');
    const { page } = opened;
    await page.getByRole('alert').getByText('nowhere').waitFor();
    await page.getByRole('link', { name: 'SQL', exact: true }).click();
    await page.waitForFunction(() => document.title === 'SQL · Framehold');
    await page.getByRole('alert').waitFor({ state: 'detached' });
  });

  test('fits into 380 px in every view', async () => {
    await using opened = await openConsole('', { width: 380, height: 700 });
    const { page } = opened;
    for (const view of views) {
      await page.getByRole('navigation').getByRole('link', { name: view, exact: true }).click();
      await page.waitForFunction((title) => document.title === title, `${view} · Framehold`);
      await page.getByRole('main').getByRole('heading').first().waitFor();
      expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth), view).toBeLessThanOrEqual(0);
    }
  });
});
