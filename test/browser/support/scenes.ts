import type { Page } from 'playwright-core';
import type { ConsoleServer } from './console-server.ts';

/** Something to look at: a view in one of its states, or a dialog. */
export interface Scene {
  readonly name: string;
  /** The fragment of its address. */
  readonly at: string;
  /** Whether Escape closes it, and gives the focus back to where it was. */
  readonly isDialog?: boolean;
  /** Whether it differs from another only by its layout. */
  readonly isVariant?: boolean;
  /** Brings it about, and waits until it is there. */
  open(page: Page): Promise<void>;
}

export const longName = `${'a_rather_long_name_'.repeat(6)}end`;

/** What the scenes show. */
export async function putFramesOfScenes(server: ConsoleServer): Promise<void> {
  await server.putSql(
    'prices',
    `SELECT '2026-01-01'::TIMESTAMP + to_seconds(range) AS moment, sin(range / 500) AS price,
      'symbol ' || range % 3 AS symbol, '{"a": [1, 2], "b": "x"}' AS detail FROM range(20000)`,
  );
  await server.putSql('nothing', 'SELECT 1 AS a, 2 AS b WHERE false');
  await server.putSql(longName, 'SELECT 1 AS a');
  const columns = Array.from({ length: 60 }, (_, at) => `range * ${at} AS column_${at}`);
  await server.putSql('wide', `SELECT ${columns.join(', ')} FROM range(500)`);
}

const clicked =
  (name: string | RegExp) =>
  (page: Page): Promise<void> =>
    page.getByRole('button', { name, exact: true }).first().click();

/** Dialogs of one view are side by side: to go from one to the next loads nothing. */
const ofFrame: readonly Scene[] = [
  ['export of a frame', clicked('Export')],
  ['use from a program', clicked('Use it from a program')],
  ['chooser of columns', clicked('Columns')],
  ['copy', clicked('Copy as …')],
  ['go to row', clicked('Go to row')],
].map(([name, press]) => ({
  name: name as string,
  at: '#/frames/prices',
  isDialog: true,
  async open(page) {
    await page.getByRole('gridcell').first().waitFor();
    await (press as (page: Page) => Promise<void>)(page);
    await page.getByRole('dialog').waitFor();
  },
}));

const ofSql: readonly Scene[] = [
  ['all rows', clicked('All rows …')],
  ['export of a result', clicked('Export …')],
  ['saving under a name', clicked('Save under a name')],
  ['saved statements', clicked('Saved statements')],
  ['history', clicked('History')],
].map(([name, press]) => ({
  name: name as string,
  at: '#/sql',
  isDialog: true,
  async open(page) {
    if ((await page.getByRole('gridcell').count()) === 0) await runSql(page, 'select * from prices');
    await (press as (page: Page) => Promise<void>)(page);
    await page.getByRole('dialog').waitFor();
  },
}));

export const dialogScenes: readonly Scene[] = [
  ...ofFrame,
  {
    name: 'viewer of a cell',
    at: '#/frames/prices',
    isDialog: true,
    async open(page) {
      await page.getByRole('gridcell').first().waitFor();
      await page.getByRole('grid').focus();
      await page.keyboard.press('Control+Home');
      await page.keyboard.press('End');
      await page.keyboard.press('Enter');
      await page.getByRole('dialog').waitFor();
    },
  },
  {
    name: 'question before a drop',
    at: '#/frames/prices?tab=details',
    isDialog: true,
    async open(page) {
      await page.getByRole('button', { name: 'Drop the frame' }).click();
      await page.getByRole('dialog').waitFor();
    },
  },
  {
    name: 'palette of commands',
    at: '#/frames',
    isDialog: true,
    async open(page) {
      await page.getByLabel('Filter by name').focus();
      await page.keyboard.press('Control+k');
      await page.getByRole('option').first().waitFor();
    },
  },
  ...ofSql,
];

export const viewScenes: readonly Scene[] = [
  {
    name: 'the list of frames',
    at: '#/frames',
    open: (page) => page.getByRole('link', { name: 'prices' }).waitFor(),
  },
  ...(
    [
      ['rows', '', (page: Page) => page.getByRole('gridcell').first().waitFor()],
      ['columns', '?tab=columns', openProfile],
      ['plot', '?tab=plot', (page: Page) => page.getByText('of 20,000 points').first().waitFor()],
      ['details', '?tab=details', (page: Page) => page.getByRole('button', { name: 'Drop the frame' }).waitFor()],
    ] as const
  ).map(([name, parameters, open]) => ({ name: `the ${name} of a frame`, at: `#/frames/prices${parameters}`, open })),
  {
    name: 'a frame without rows',
    at: '#/frames/nothing',
    open: (page) => page.getByText('no rows').waitFor(),
  },
  {
    name: 'a frame with a long name',
    isVariant: true,
    at: `#/frames/${longName}`,
    open: (page) => page.getByRole('gridcell').first().waitFor(),
  },
  {
    name: 'a frame of 60 columns',
    isVariant: true,
    at: '#/frames/wide',
    open: (page) => page.getByRole('gridcell').first().waitFor(),
  },
  {
    name: 'a frame that is not there',
    at: '#/frames/missing',
    open: (page) => page.getByRole('alert').waitFor(),
  },
  { name: 'SQL before anything ran', at: '#/sql', open: (page) => page.locator('.cm-content').waitFor() },
  { name: 'a result', at: '#/sql', open: (page) => runSql(page, 'select * from prices') },
  {
    name: 'the plot of a result',
    at: '#/sql',
    async open(page) {
      await runSql(page, 'select moment, price from prices limit 20');
      await page.getByRole('tab', { name: 'Plot' }).click();
      await page.getByRole('button', { name: 'Table' }).click();
      await page.getByText('20 points', { exact: true }).waitFor();
    },
  },
  {
    name: 'the plan of a statement',
    at: '#/sql',
    async open(page) {
      await writeSql(page, 'select * from prices');
      await page.getByRole('tab', { name: 'Result' }).click();
      await page.getByRole('button', { name: 'Explain' }).click();
      await page.locator('.sql-plan').waitFor();
    },
  },
  {
    name: 'a statement that failed',
    at: '#/sql',
    async open(page) {
      await writeSql(page, 'select prise from prices');
      await page.getByRole('button', { name: 'Run', exact: true }).click();
      await page.getByRole('alert').waitFor();
    },
  },
  {
    name: 'uploads before a file is chosen',
    at: '#/upload',
    open: (page) => page.getByRole('button', { name: 'Choose files' }).waitFor(),
  },
  {
    name: 'an upload with a preview',
    at: '#/upload',
    async open(page) {
      await choose(page, 'weather.csv', 'day,at,city,degrees\n2026-01-05,2026-01-05T10:30:00Z,Oslo,-7.5\n');
      await page.getByText('DOUBLE (found)').first().waitFor({ state: 'attached' });
    },
  },
  {
    name: 'an upload with rejections',
    at: '#/upload',
    async open(page) {
      await choose(page, 'broken.csv', 'a,b\n1,2\n3,4,5,6\n7,8\n');
      const card = page.getByRole('region', { name: 'broken.csv' });
      await card.getByText('Rows that cannot be read').first().waitFor();
      await card.getByLabel('Leave out rows that cannot be read').check();
      await card.getByText('Rows that will be left out').first().waitFor();
      await card.getByLabel('Name of the frame').fill('prices');
      await card.getByText('There is a frame of this name already').waitFor();
    },
  },
  {
    name: 'the server',
    at: '#/server',
    async open(page) {
      await page.getByRole('heading', { name: 'Settings' }).waitFor();
      await page.getByRole('table').nth(1).waitFor();
    },
  },
];

/** In the place of what is in the editor. */
export async function writeSql(page: Page, sql: string): Promise<void> {
  await page.locator('.cm-content').click();
  await page.keyboard.press('Control+a');
  await page.keyboard.insertText(sql);
}

async function runSql(page: Page, sql: string): Promise<void> {
  await page.getByRole('tab', { name: 'Result' }).click();
  await writeSql(page, sql);
  await page.keyboard.press('Control+Enter');
  await page.getByText(/^(first )?[\d,]+ rows ·/).waitFor();
  await page.getByRole('gridcell').first().waitFor();
}

async function openProfile(page: Page): Promise<void> {
  await page.getByRole('button', { name: /^price/ }).click();
  await page.getByText('Different', { exact: true }).first().waitFor();
}

async function choose(page: Page, name: string, text: string): Promise<void> {
  const file = { name, mimeType: 'text/csv', buffer: Buffer.from(text) };
  await page.locator('input[type=file]').first().setInputFiles(file);
  await page.getByRole('heading', { name }).waitFor();
}
