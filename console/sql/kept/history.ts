import { signal } from '@preact/signals';
import { fileText, itemsOf } from './statement-file.ts';
import { readStored, writeStored } from './stored.ts';

const outcomes = ['rows', 'done', 'failed', 'cancelled'] as const;

/** A statement that ran from this browser. */
export interface HistoryEntry {
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly sql: string;
  readonly engine: string;
  readonly ms: number;
  /** Null where it gave none. */
  readonly rows: number | null;
  readonly outcome: (typeof outcomes)[number];
}

export const mostEntries = 500;
/** Longer statements are not stored: a browser has about 5 MB for all of it. */
const maxLength = 50_000;
const storageKey = 'framehold.sql.history';
/** Kind of a file with a history. */
const fileKind = 'framehold-history';

/** The newest first. */
export const history = signal<readonly HistoryEntry[]>(restoredEntries());

export function remember(entry: HistoryEntry): void {
  if (entry.sql.length > maxLength) return;
  // Another tab of the browser may have changed it since.
  write(withEntry(restoredEntries(), entry));
}

/** Returns the number of entries. Throws for another file. */
export function importHistory(text: string): number {
  const found = parseHistory(text);
  write(mergedEntries(restoredEntries(), found));
  return found.length;
}

export function exportedHistory(entries: readonly HistoryEntry[]): string {
  return fileText(fileKind, 'entries', entries);
}

export function parseHistory(text: string): readonly HistoryEntry[] {
  return entriesIn(itemsOf(text, fileKind, 'entries')).filter(({ sql }) => sql.length <= maxLength);
}

/** Those of both, each once. */
export function mergedEntries(
  entries: readonly HistoryEntry[],
  others: readonly HistoryEntry[],
): readonly HistoryEntry[] {
  const byRun = new Map([...others, ...entries].map((entry) => [JSON.stringify([entry.at, entry.sql]), entry]));
  return [...byRun.values()].sort((one, other) => other.at - one.at).slice(0, mostEntries);
}

function write(all: readonly HistoryEntry[]): void {
  let entries = all;
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

/** Entries with all words, in any case. */
export function searchEntries(entries: readonly HistoryEntry[], text: string): readonly HistoryEntry[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return entries;
  return entries.filter(({ sql, engine }) => {
    const searched = `${sql} ${engine}`.toLowerCase();
    return words.every((word) => searched.includes(word));
  });
}

function restoredEntries(): readonly HistoryEntry[] {
  return entriesIn(readStored(storageKey));
}

function entriesIn(value: unknown): readonly HistoryEntry[] {
  return Array.isArray(value) ? value.filter(isEntry) : [];
}

function isEntry(value: unknown): value is HistoryEntry {
  const entry = value as Partial<Record<keyof HistoryEntry, unknown>> | null;
  return (
    typeof entry?.sql === 'string' &&
    typeof entry.engine === 'string' &&
    typeof entry.ms === 'number' &&
    (entry.rows === null || typeof entry.rows === 'number') &&
    outcomes.some((outcome) => outcome === entry.outcome) &&
    Number.isFinite(new Date(Number(entry.at)).getTime())
  );
}
