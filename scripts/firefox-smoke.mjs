/**
 * Opens the console in a Firefox: `node --import tsx scripts/firefox-smoke.mjs`, behind a build. Not among the tests, which
 * would have to fetch 82 MB for it.
 */
import { deepStrictEqual, ok } from 'node:assert';
import { openFirefox } from '../test/browser/support/firefox.ts';
import { needed } from '../test/support/missing.ts';
import { spawnFramehold } from '../test/support/spawned-framehold.ts';
import { temporaryDirectory } from '../test/support/temporary-directory.ts';

const page = await needed('the console in Firefox', openFirefox);
if (page !== undefined) {
  const directory = await temporaryDirectory();
  try {
    const server = await spawnFramehold({ dataDir: directory.path, flags: ['--demo'] });
    try {
      await smoke(server.url);
    } finally {
      await server[Symbol.asyncDispose]();
    }
  } finally {
    await page[Symbol.asyncDispose]();
    await directory[Symbol.asyncDispose]();
  }
}

async function smoke(url) {
  const step = (text) => process.stdout.write(`${text}\n`);
  step(`Firefox ${page.version}`);

  await page.goto(`${url}/#/frames`);
  await page.waitFor(`[...document.querySelectorAll('main a')].some((link) => link.textContent.trim() === 'trades')`);
  step('the list shows the demo frames');

  await page.goto(`${url}/#/frames/trades?columns=id,price`);
  await page.waitFor(`document.querySelectorAll('[role=grid] [role=gridcell]').length > 0`);
  await page.evaluate(`document.querySelector('[role=grid]').focus()`);
  await page.press('Control+g');
  await page.waitFor(`document.querySelector('dialog input') === document.activeElement`);
  await page.evaluate(`document.activeElement.select()`);
  await page.type('1000000');
  await page.press('Enter');
  const lastRow = `[...document.querySelectorAll('[role=grid] [role=row]')].find((row) => row.getAttribute('aria-rowindex') === '1000001')`;
  await page.waitFor(`${lastRow}?.querySelector('[role=gridcell]')?.textContent === '999999'`);
  const seen = await page.evaluate(`(() => {
    const row = ${lastRow}.getBoundingClientRect();
    const grid = document.querySelector('[role=grid]').getBoundingClientRect();
    return row.height > 0 && row.top >= grid.top && row.bottom <= grid.bottom + 1;
  })()`);
  ok(seen, 'the last row is not within the grid');
  step('the grid shows row 1,000,000 of 1,000,000, within its box');

  await page.goto(`${url}/#/sql`);
  await page.waitFor(`(${findEditor})() !== undefined`);
  await page.click(`(${findEditor})()`);
  await page.type("select timestamp, price from trades where symbol = 'BTC-USD'");
  await page.press('Escape');
  await page.press('Control+Enter');
  await page.waitFor(`/first 1,000 rows/.test(document.querySelector('.sql-status')?.textContent ?? '')`);
  step('a statement runs by Ctrl+Enter');

  await page.click(`document.querySelector('#sql-panel-plot')`);
  await page.waitFor(`/^[\\d,]+ of [\\d,]+ points/.test(document.querySelector('.plot-shown')?.textContent ?? '')`);
  await page.waitFor(`document.querySelector('.sql-plot canvas') !== null`);
  const colours = await page.evaluate(`(() => {
    const canvas = document.querySelector('.sql-plot canvas');
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    return new Set(data).size;
  })()`);
  ok(colours > 10, 'nothing is drawn');
  step(`its plot is drawn: ${await page.evaluate(`document.querySelector('.plot-shown').textContent`)}`);

  await page.click(`document.querySelector('[aria-label=History]')`);
  await page.waitFor(`document.querySelector('dialog .sql-kept-item') !== null`);
  await page.click(`document.querySelector('dialog .sql-kept-item')`);
  await page.waitFor(`document.querySelector('dialog') === null && (${findEditor})().innerText.includes('BTC-USD')`);
  await page.type('-- typed');
  await page.waitFor(`(${findEditor})().innerText.includes('-- typed')`);
  step('a statement of the history stands in the editor, which has the focus');

  deepStrictEqual(page.complaints, []);
  step('no error, and nothing that the policy refused');
}

function findEditor() {
  const host = [...document.querySelectorAll('*')].find((element) => element.shadowRoot?.querySelector('.cm-content'));
  return host?.shadowRoot.querySelector('.cm-content');
}
