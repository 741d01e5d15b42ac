import type { TableFormat } from './table.ts';

const endings = {
  csv: '.csv',
  tsv: '.tsv',
  json: '.json',
  ndjson: '.ndjson',
  arrow: '.arrow',
  parquet: '.parquet',
} as const satisfies Record<TableFormat['fmt'], string>;

const maxCharacters = 200;

/** `Content-Disposition` (RFC 6266) for a file of this name: never a path, never a name that a system refuses. */
export function attachment(name: string, fmt: TableFormat['fmt']): string {
  const ending = endings[fmt];
  const safe = safeName(name);
  const filename = safe.toLowerCase().endsWith(ending) ? safe : `${safe}${ending}`;
  const ascii = filename.replaceAll(/[^\x20-\x7e]/gu, '_').replaceAll('%', '_');
  const plain = `attachment; filename="${ascii}"`;
  return ascii === filename ? plain : `${plain}; filename*=UTF-8''${encoded(filename)}`;
}

function safeName(name: string): string {
  const start = Math.max(name.lastIndexOf('/'), name.lastIndexOf('\\')) + 1;
  // Of a name of megabytes only the shown part is examined.
  const base = name.slice(start, start + 4 * maxCharacters).normalize('NFC');
  const safe = [...base.replaceAll(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}<>:"|?*]/gu, '_')]
    .slice(0, maxCharacters)
    .join('')
    .replaceAll(/^[.\s]+|[.\s]+$/g, '');
  return safe === '' ? 'export' : safe;
}

/** Percent-encoded but for RFC 5987's attr-char. */
function encoded(text: string): string {
  return encodeURIComponent(text).replaceAll(/['()*]/g, (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`);
}
