import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { violationsOf } from './support/axe.ts';
import { type ConsolePage, describeInBrowser, openConsole } from './support/console-page.ts';
import { type ConsoleServer, startConsoleServer } from './support/console-server.ts';
import { layoutFaults } from './support/layout.ts';
import { dialogScenes, putFramesOfScenes, type Scene, viewScenes } from './support/scenes.ts';

const wide = { width: 1280, height: 800 };
const narrow = { width: 390, height: 844 };
/** A window of 1280 px at 200 %. */
const zoomed = { width: 640, height: 400 };
const huge = { width: 3840, height: 2160 };

/** Frames that are missing and statements that fail are among them. */
const allowed = /status of 40[04]/;

/** As the browser has laid it out after a change of the window. */
const resize = async (page: Page, size: typeof wide): Promise<void> => {
  await page.setViewportSize(size);
  await page.evaluate(() => new Promise((laidOut) => requestAnimationFrame(() => requestAnimationFrame(laidOut))));
};

describeInBrowser('every view and every dialog of the console', () => {
  let server: ConsoleServer;
  let opened: ConsolePage;
  beforeAll(async () => {
    server = await startConsoleServer();
    await putFramesOfScenes(server);
    opened = await openConsole('#/frames', { url: server.url, allowed });
  });
  afterAll(async () => {
    await opened[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
  });

  /** All in one page, one after another, as in a long day. */
  const show = async ({ at, open }: Scene): Promise<Page> => {
    const { page } = opened;
    await page.emulateMedia({ colorScheme: 'light' });
    await page.setViewportSize(wide);
    if (new URL(page.url()).hash !== at) await page.goto(`${server.url}/${at}`);
    await open(page);
    return page;
  };

  test.each(viewScenes)('$name: nothing for axe, nothing cut off, nothing over another', async (scene) => {
    const page = await show(scene);
    for (const size of [wide, zoomed, huge, narrow]) {
      await resize(page, size);
      expect(await layoutFaults(page), `${size.width} px`).toEqual([]);
    }
    if (scene.isVariant === true) return;
    expect(await violationsOf(page), 'narrow and light').toEqual([]);
    await page.emulateMedia({ colorScheme: 'dark' });
    await resize(page, wide);
    expect(await violationsOf(page), 'wide and dark').toEqual([]);
  });

  test.each(dialogScenes)('$name: the same of a dialog, which gives the focus back', async (scene) => {
    await opened.page.evaluate(noteFocusBeforeDialogs);
    const page = await show(scene);
    const dialog = page.getByRole('dialog');
    expect(await dialog.evaluate((element) => element.contains(document.activeElement))).toBe(true);
    expect(await violationsOf(page), 'wide and light').toEqual([]);
    await page.emulateMedia({ colorScheme: 'dark' });
    for (const size of [wide, zoomed, narrow]) {
      await resize(page, size);
      expect(await layoutFaults(page), `${size.width} px`).toEqual([]);
    }
    expect(await violationsOf(page), 'narrow and dark').toEqual([]);
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    expect(await page.evaluate(hasFocusOfBefore)).toBe(true);
  });
});

/** In the page: what has the focus when a dialog opens. */
function noteFocusBeforeDialogs(): void {
  const { prototype } = HTMLDialogElement;
  const show = prototype.showModal;
  prototype.showModal = function showModal() {
    Object.assign(window, { focusedBefore: document.activeElement });
    show.call(this);
  };
}

function hasFocusOfBefore(): boolean {
  const { activeElement, body } = document;
  return activeElement !== body && 'focusedBefore' in window && activeElement === window.focusedBefore;
}
