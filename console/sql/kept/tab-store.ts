import { readStored, removeStored, storedKeys, writeStored } from './stored.ts';

export interface SqlTab {
  readonly id: string;
  readonly name: string;
  readonly engine: string;
  /** The settings of its plot, as a link has them. */
  readonly plot?: string;
}

export type StoredTab = SqlTab & { readonly text: string };

export interface StoredTabs {
  readonly tabs: readonly StoredTab[];
  readonly current: string;
}

/** The tabs of one window. */
interface WindowEntry extends StoredTabs {
  /** Unix milliseconds. An open window writes its entry at least every `beatMs`. */
  readonly at: number;
  readonly isOpen: boolean;
}

const prefix = 'framehold.sql.tabs.';
const windowKey = 'framehold.sql.window';
export const beatMs = 60_000;
/** Browsers let the timers of a hidden window wait for a minute. */
const lostAfterMs = 5 * beatMs;

/**
 * The tabs of this window. Each window has an entry of its own, which it finds again after a reload; a new window takes the
 * tabs of windows that were closed.
 */
export class TabStore {
  readonly #id: string;
  /** The tabs for a window of this kind when it opens; undefined: none. */
  readonly found: StoredTabs | undefined;

  private constructor(id: string, found: StoredTabs | undefined) {
    this.#id = id;
    this.found = found;
    writeStored(windowKey, id, 'session');
    if (found !== undefined) this.write(found);
  }

  static open(newId: string): TabStore {
    const known = readStored(windowKey, 'session');
    const own = typeof known === 'string' ? entryOf(known) : undefined;
    // A copy of a window that is still open has its session too, and must not write its entry.
    if (own !== undefined) return new TabStore(own.isOpen ? newId : String(known), own);
    const left = leftEntries();
    const store = new TabStore(newId, joined(left.map(([, entry]) => entry)));
    for (const [id] of left) removeStored(prefix + id);
    return store;
  }

  /** `isOpen: false` when the window goes: after a reload it is the same one. */
  write({ tabs, current }: StoredTabs, isOpen = true): void {
    writeStored(prefix + this.#id, { tabs, current, at: Date.now(), isOpen } satisfies WindowEntry);
  }
}

/** Entries of windows that are closed, or ended abruptly; the latest first. */
function leftEntries(): readonly (readonly [string, WindowEntry])[] {
  return storedKeys(prefix)
    .flatMap((key) => {
      const entry = entryOf(key.slice(prefix.length));
      return entry === undefined ? [] : [[key.slice(prefix.length), entry] as const];
    })
    .filter(([, { isOpen, at }]) => !isOpen || Date.now() - at > lostAfterMs)
    .sort(([, one], [, other]) => other.at - one.at);
}

/** Leaves out tabs without a text, and the second of equal tabs in two windows. */
function joined(entries: readonly WindowEntry[]): StoredTabs | undefined {
  const byContent = new Map<string, StoredTab>();
  for (const tab of entries.flatMap(({ tabs }) => tabs)) {
    const content = JSON.stringify([tab.name, tab.engine, tab.text]);
    if (tab.text.trim() !== '' && !byContent.has(content)) byContent.set(content, tab);
  }
  const ids = new Set<string>();
  const tabs = [...byContent.values()].map((tab) => {
    const id = ids.has(tab.id) ? `${tab.id}-${ids.size}` : tab.id;
    ids.add(id);
    return { ...tab, id };
  });
  return tabs.length === 0 ? undefined : { tabs, current: entries[0]?.current ?? '' };
}

function entryOf(id: string): WindowEntry | undefined {
  const value = readStored(prefix + id) as Partial<WindowEntry> | undefined;
  const tabs = Array.isArray(value?.tabs) ? value.tabs.filter(isStoredTab) : [];
  if (value === undefined || tabs.length === 0) return undefined;
  return { tabs, current: String(value.current), at: Number(value.at) || 0, isOpen: value.isOpen === true };
}

function isStoredTab(value: unknown): value is StoredTab {
  const tab = value as Partial<Record<keyof StoredTab, unknown>> | null;
  return [tab?.id, tab?.name, tab?.engine, tab?.text, tab?.plot ?? ''].every((part) => typeof part === 'string');
}
