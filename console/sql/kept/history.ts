import { signal } from '@preact/signals';
import { readStored, writeStored } from './stored.ts';

/** A statement that ran from this browser. */
export interface HistoryEntry {
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly sql: string;
  readonly engine: string;
  readonly ms: number;
  /** Null where it gave none. */
  readonly rows: number | null;
  readonly outcome: 'rows' | 'done' | 'failed' | 'cancelled';
}

export const mostEntries = 500;
/** Longer statements are not kept: all of it has about 5 MB in a browser. */
const maxLength = 50_000;
const storageKey = 'framehold.sql.history';

/** The newest first. */
export const history = signal<readonly HistoryEntry[]>(restoredEntries());

export function remember(entry: HistoryEntry): void {
  if (entry.sql.length > maxLength) return;
  // Another tab of the browser may have written since.
  let entries = withEntry(restoredEntries(), entry);
  history.value = entries;
  while (!writeStored(storageKey, entries) && entries.length > 1) entries = entries.slice(0, entries.length >> 1);
}

export function forgetHistory(): void {
  history.value = [];
  writeStored(storageKey, []);
}

/** The same statement once more in a row is one entry. */
export function withEntry(entries: readonly HistoryEntry[], entry: HistoryEntry): readonly HistoryEntry[] {
  const [last] = entries;
  const isRepeated = last !== undefined && last.sql === entry.sql && last.engine === entry.engine;
  return [entry, ...(isRepeated ? entries.slice(1) : entries)].slice(0, mostEntries);
}

/** Those that have all words, in any case. */
export function searchEntries(entries: readonly HistoryEntry[], text: string): readonly HistoryEntry[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return entries;
  return entries.filter(({ sql, engine }) => {
    const searched = `${sql} ${engine}`.toLowerCase();
    return words.every((word) => searched.includes(word));
  });
}

function restoredEntries(): readonly HistoryEntry[] {
  const value = readStored(storageKey);
  return Array.isArray(value) ? value.filter(isEntry) : [];
}

function isEntry(value: unknown): value is HistoryEntry {
  const entry = value as Partial<Record<keyof HistoryEntry, unknown>> | null;
  return typeof entry?.sql === 'string' && typeof entry.at === 'number' && typeof entry.engine === 'string';
}
