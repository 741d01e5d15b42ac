/**
 * One measurement of the console in a real browser, in a process of its own: `measure.ts <operation> <JSON>`. Prints the
 * result as JSON. Its own start and the browser's are not measured.
 */
import { chromium } from 'playwright-core';
import { chromiumOptions } from '../../test/browser/support/chromium.ts';
import { measureJumps } from './jumps.ts';
import { measureList } from './list.ts';
import { measurePlot } from './plot.ts';
import { measureScroll } from './scroll.ts';

const operations = { list: measureList, scroll: measureScroll, jumps: measureJumps, plot: measurePlot };

const [operation = '', parameters = '{}'] = process.argv.slice(2);
const measure = operations[operation as keyof typeof operations];
if (measure === undefined) throw new Error(`there is no operation ${operation}`);
const browser = await chromium.launch(await chromiumOptions());
try {
  const context = await browser.newContext({
    locale: 'en-US',
    timezoneId: 'UTC',
    viewport: { width: 1280, height: 800 },
  });
  const page = await context.newPage();
  page.setDefaultTimeout(60_000);
  const devtools = await context.newCDPSession(page);
  const result = await measure({ page, devtools, ...JSON.parse(parameters) });
  process.stdout.write(`${JSON.stringify(result)}\n`);
} finally {
  await browser.close();
}
