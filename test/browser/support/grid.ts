import type { Locator, Page } from 'playwright-core';

/** One row that is in the document. */
export interface ShownRow {
  /** Counted from 1, as the row header says it. */
  readonly number: number;
  /** Counted from 0, as it is told to those who do not see the table. */
  readonly index: number;
  readonly isPending: boolean;
  readonly cells: readonly string[];
}

export function grid(page: Page): Locator {
  return page.getByRole('grid');
}

/** All rows of the one grid that are in the document, read at one moment, in their order. */
export async function shownRows(page: Page): Promise<readonly ShownRow[]> {
  return grid(page).evaluate((element) =>
    [...element.querySelectorAll('[role=row][aria-rowindex]')]
      .filter((row) => row.querySelector('[role=rowheader]') !== null)
      .map((row) => ({
        number: Number(row.querySelector('[role=rowheader]')?.textContent?.replaceAll(',', '')),
        index: Number(row.getAttribute('aria-rowindex')) - 2,
        isPending: row.getAttribute('aria-busy') === 'true',
        cells: [...row.querySelectorAll('[role=gridcell]')].map((cell) => cell.textContent ?? ''),
      }))
      .sort((one, other) => one.index - other.index),
  );
}

/** Once no row waits for its cells any more. */
export async function loadedRows(page: Page): Promise<readonly ShownRow[]> {
  await page.waitForFunction(() => {
    const rows = [...document.querySelectorAll('[role=grid] [role=rowheader]')].map((cell) => cell.parentElement);
    return rows.length > 0 && rows.every((row) => row?.getAttribute('aria-busy') !== 'true');
  });
  return shownRows(page);
}

/** As a person does it: Ctrl+G, the number, Enter. Counted from 1; also `-1` and `50%`. */
export async function goToRow(page: Page, row: number | string): Promise<void> {
  await grid(page).focus();
  await page.keyboard.press('Control+g');
  const dialog = page.getByRole('dialog', { name: 'Go to row' });
  await dialog.getByRole('textbox').fill(String(row));
  await page.keyboard.press('Enter');
  await dialog.waitFor({ state: 'detached' });
}
