import type { CDPSession, Page } from 'playwright-core';

/** The input of every measurement. */
export interface MeasuredPage {
  readonly page: Page;
  readonly devtools: CDPSession;
  /** Of the server. */
  readonly url: string;
  /** Slowdown of the processor for the page. */
  readonly slowdown: number;
}

export async function open({ page, url }: MeasuredPage, fragment = ''): Promise<void> {
  await page.goto(`${url}/${fragment}`);
  // tsx wraps functions in this, also those that are sent into the page. A script that runs before the page is measured, too.
  await page.evaluate('globalThis.__name = (value) => value');
}

export async function slowDown({ devtools, slowdown }: MeasuredPage): Promise<void> {
  await devtools.send('Emulation.setCPUThrottlingRate', { rate: slowdown });
}

export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
}
