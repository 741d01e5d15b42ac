import { computed, signal } from '@preact/signals';
import { readStored, writeStored } from './kept/stored.ts';

export interface SqlTab {
  readonly id: string;
  readonly name: string;
  readonly engine: string;
  /** The settings of its plot, as a link has them. */
  readonly plot?: string;
}

interface StoredTabs {
  readonly tabs: readonly (SqlTab & { readonly text: string })[];
  readonly current: string;
}

const storageKey = 'framehold.sql.tabs';
const persistDelayMs = 400;

/** The texts of tabs: not signals, because a key that is typed changes nothing else on the page. */
const texts = new Map<string, () => string>();
const stored = restore();
export const tabs = signal<readonly SqlTab[]>(stored.tabs.map(({ text: _, ...tab }) => tab));
for (const { id, text } of stored.tabs) texts.set(id, () => text);
const currentId = signal(stored.current);

/** Changes when a text was replaced by something else than the editor. */
export const textVersion = signal(0);

export const currentTab = computed<SqlTab>(() => {
  const [first = blankTab(1)] = tabs.value;
  return tabs.value.find(({ id }) => id === currentId.value) ?? first;
});

export function textOf(id: string): string {
  return texts.get(id)?.() ?? '';
}

/** `read` is called when the text is needed. */
export function setText(id: string, read: () => string): void {
  texts.set(id, read);
  persistSoon();
}

export function replaceText(id: string, text: string): void {
  setText(id, () => text);
  textVersion.value++;
}

export function selectTab(id: string): void {
  currentId.value = id;
  persistSoon();
}

/** Opens a tab and shows it. A blank one that is shown is filled instead. */
export function openTab({ text = '', engine, name }: { text?: string; engine?: string; name?: string } = {}): SqlTab {
  const current = currentTab.peek();
  if (text !== '' && textOf(current.id).trim() === '') {
    changeTab(current.id, { ...(engine !== undefined && { engine }), ...(name !== undefined && { name }) });
    replaceText(current.id, text);
    return current;
  }
  const tab = { ...blankTab(nextNumber()), engine: engine ?? current.engine, ...(name !== undefined && { name }) };
  texts.set(tab.id, () => text);
  tabs.value = [...tabs.peek(), tab];
  selectTab(tab.id);
  return tab;
}

export function changeTab(id: string, change: Partial<Pick<SqlTab, 'name' | 'engine' | 'plot'>>): void {
  tabs.value = tabs.peek().map((tab) => (tab.id === id ? { ...tab, ...change } : tab));
  persistSoon();
}

/** The last one is emptied instead. */
export function closeTab(id: string): void {
  const all = tabs.peek();
  const at = all.findIndex((tab) => tab.id === id);
  if (at < 0) return;
  const left = all.filter((tab) => tab.id !== id);
  const isCurrent = currentTab.peek().id === id;
  texts.delete(id);
  tabs.value = left.length === 0 ? [{ ...blankTab(1), engine: all[at]?.engine ?? 'local' }] : left;
  const next = tabs.peek()[Math.min(at, tabs.peek().length - 1)];
  if (isCurrent && next !== undefined) currentId.value = next.id;
  persistSoon();
}

let timer: ReturnType<typeof setTimeout> | undefined;

function persistSoon(): void {
  timer ??= setTimeout(persistTabs, persistDelayMs);
}

export function persistTabs(): void {
  clearTimeout(timer);
  timer = undefined;
  const kept = tabs.peek().map((tab) => ({ ...tab, text: textOf(tab.id) }));
  writeStored(storageKey, { tabs: kept, current: currentTab.peek().id } satisfies StoredTabs);
}

function restore(): StoredTabs {
  const value = readStored(storageKey) as Partial<StoredTabs> | undefined;
  const found = Array.isArray(value?.tabs) ? value.tabs.filter(isStoredTab) : [];
  if (found.length > 0) return { tabs: found, current: String(value?.current) };
  const tab = { ...blankTab(1), text: '' };
  return { tabs: [tab], current: tab.id };
}

function isStoredTab(value: unknown): value is StoredTabs['tabs'][number] {
  const tab = value as Partial<Record<keyof StoredTabs['tabs'][number], unknown>> | null;
  return [tab?.id, tab?.name, tab?.engine, tab?.text, tab?.plot ?? ''].every((part) => typeof part === 'string');
}

function blankTab(number: number): SqlTab {
  return { id: `tab-${Date.now().toString(36)}-${number}`, name: `Query ${number}`, engine: 'local' };
}

function nextNumber(): number {
  const numbers = tabs.peek().map(({ name }) => Number(/^Query (\d+)$/.exec(name)?.[1] ?? 0));
  return Math.max(0, ...numbers) + 1;
}
