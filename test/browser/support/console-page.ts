import { type Browser, chromium, type Page } from 'playwright-core';
import { describe, inject } from 'vitest';

export interface PageOptions {
  /** Of the server. Default: the one with the demo frames. */
  readonly url?: string;
  readonly width?: number;
  readonly height?: number;
  readonly theme?: 'light' | 'dark';
  /** Whether the system asks for less of it, which tests need not wait for. */
  readonly motion?: 'reduce' | 'no-preference';
  /** CSS pixels are so many device pixels. */
  readonly scale?: number;
  /** Opens another window in its session. */
  readonly beside?: ConsolePage;
  /** What the browser may write as an error, such as answers of 401 that a test is about. */
  readonly allowed?: RegExp;
}

/** A page whose end fails where the browser wrote an error, an exception was not caught, or the policy refused something. */
export interface ConsolePage extends AsyncDisposable {
  readonly page: Page;
  /** So far. */
  readonly complaints: readonly string[];
}

const failure = inject('browserFailure');
const browserOptions = inject('browserOptions');
const mark = 'refused by the policy: ';
/** Of all files that run in this process. Playwright ends it with the process. */
let browser: Promise<Browser> | undefined;

/** `describe`, left out where there is no browser. */
export const describeInBrowser = describe.skipIf(failure === undefined && browserOptions === undefined);

/** Opens the console at a fragment, such as `#/frames`, in a session of its own. */
export async function openConsole(fragment: string, options: PageOptions = {}): Promise<ConsolePage> {
  const { width = 1280, height = 800, theme = 'light', scale = 1, motion = 'reduce', allowed } = options;
  const context =
    options.beside?.page.context() ??
    (await (
      await launched()
    ).newContext({
      locale: 'en-US',
      timezoneId: 'UTC',
      viewport: { width, height },
      deviceScaleFactor: scale,
      colorScheme: theme,
      reducedMotion: motion,
    }));
  const page = await context.newPage();
  page.setDefaultTimeout(20_000);
  const complaints: string[] = [];
  const complain = (text: string): void => {
    if (allowed?.test(text) !== true) complaints.push(text);
  };
  page.on('console', (message) => {
    if (message.type() === 'error' || message.text().startsWith(mark))
      complain(`${message.text()} (${message.location().url})`);
  });
  page.on('pageerror', (error) => complain(`not caught: ${error.stack ?? error.message}`));
  await page.addInitScript((prefix) => {
    addEventListener('securitypolicyviolation', (event) => {
      console.info(`${prefix}${event.effectiveDirective} ${event.blockedURI} ${event.sample}`);
    });
  }, mark);
  await page.goto(`${options.url ?? inject('demoUrl')}/${fragment}`);
  return {
    page,
    complaints,
    async [Symbol.asyncDispose]() {
      if (options.beside === undefined) await context.close();
      // As a person closes a window: the page hears of it.
      else if (!page.isClosed()) await Promise.all([page.waitForEvent('close'), page.close({ runBeforeUnload: true })]);
      if (complaints.length > 0) throw new Error(`the browser complains:\n${complaints.join('\n')}`);
    },
  };
}

function launched(): Promise<Browser> {
  if (failure !== undefined) throw new Error(failure);
  browser ??= chromium.launch(browserOptions);
  return browser;
}
