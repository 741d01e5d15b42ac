import type { CsvForm } from '../../core/rows/frame-engine.ts';

export interface CsvWriteOptions {
  /** One ASCII character that no number has. */
  readonly delimiter: string;
  /** An apostrophe before text that a spreadsheet would take for a formula. */
  readonly escapesFormulas: boolean;
}

export function csvOptions(form: CsvForm): CsvWriteOptions {
  const colon = form.indexOf(':');
  return { delimiter: form.slice(colon + 1), escapesFormulas: form.slice(0, colon) === 'csv-safe' };
}

/** By byte: 1 where it makes a field need quotes, wherever in it it is. */
export function quotedBytes({ delimiter, escapesFormulas }: CsvWriteOptions): Uint8Array {
  const marks = new Uint8Array(256);
  // A spreadsheet may cut lines at a character of its own choice, and the rest would begin a cell.
  for (const character of `"\r\n${delimiter}${escapesFormulas ? ',;|\t' : ''}`) marks[character.charCodeAt(0)] = 1;
  return marks;
}
