import { isText, textOf } from './cell-text.ts';
import type { Cell, GridColumn } from './grid-source.ts';

export type CopyFormat = 'tsv' | 'csv' | 'markdown';

export const copyFormats = {
  tsv: 'TSV, for spreadsheets',
  csv: 'CSV',
  markdown: 'Markdown',
} as const satisfies Record<CopyFormat, string>;

export interface CopyOptions {
  readonly format: CopyFormat;
  readonly hasHeader: boolean;
  /** An apostrophe before text that a spreadsheet would take for a formula. */
  readonly escapeFormulas: boolean;
}

/** Rows as text for the clipboard. */
export function formatCells(
  columns: readonly GridColumn[],
  rows: readonly (readonly Cell[])[],
  { format, hasHeader, escapeFormulas }: CopyOptions,
): string {
  const escaped = (text: string): string => (escapeFormulas ? escapeFormula(text) : text);
  const header = columns.map(({ name }) => escaped(name));
  const texts = rows.map((row) =>
    columns.map((column, index) => {
      const cell = row[index] ?? null;
      if (cell === null) return null;
      const text = textOf(cell, column);
      return isText(column) ? escaped(text) : text;
    }),
  );
  if (format === 'markdown') return markdown(columns, header, texts);
  const [separator, lineEnd] = format === 'tsv' ? ['\t', '\n'] : [',', '\r\n'];
  const lines = (hasHeader ? [header, ...texts] : texts).map((line) =>
    line.map((text) => (format === 'tsv' ? tsvField(text) : csvField(text))).join(separator),
  );
  return format === 'tsv' ? lines.join(lineEnd) : lines.map((line) => line + lineEnd).join('');
}

const formulaStart = /^[\s\u00a0\u200b\ufeff"']*[=+\-@＝＋－＠]|^[\t\r\n]/u;

/** Spaces before the sign, and later lines of a cell, are taken for formulas as well. */
export function escapeFormula(text: string): string {
  if (!/[=+\-@＝＋－＠\t\r\n]/.test(text)) return text;
  return text
    .split(/(\r\n|\r|\n)/)
    .map((part, index) => (index % 2 === 0 && formulaStart.test(part) ? `'${part}` : part))
    .join('')
    .replace(/^(?=[\r\n])/, "'");
}

/** NULL and empty text are both an empty field: spreadsheets know no other. */
function tsvField(text: string | null): string {
  if (text === null) return '';
  return /[\t\r\n]|^"/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** As an export of the server: NULL is empty, empty text is "". */
function csvField(text: string | null): string {
  if (text === null) return '';
  return text === '' || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function markdown(
  columns: readonly GridColumn[],
  header: readonly string[],
  rows: readonly (readonly (string | null)[])[],
): string {
  const line = (fields: readonly string[]): string => `| ${fields.join(' | ')} |\n`;
  const rule = columns.map((column) => (isText(column) ? '---' : '---:'));
  const body = rows.map((row) => line(row.map((text) => markdownField(text ?? 'NULL'))));
  return line(header.map(markdownField)) + line(rule) + body.join('');
}

function markdownField(text: string): string {
  return text
    .replace(/[\\|`*_<>[\]]/g, '\\$&')
    .replace(/\r\n?|\n/g, '<br>')
    .replaceAll('\t', ' ');
}
