import { computed, signal } from '@preact/signals';
import { beatMs, type SqlTab, type StoredTabs, TabStore } from './kept/tab-store.ts';

const persistDelayMs = 400;

/** The texts of tabs: not signals, because a typed key changes nothing else on the page. */
const texts = new Map<string, () => string>();
const store = TabStore.open(`window-${randomText()}`);
const stored = store.found ?? blankTabs();
export const tabs = signal<readonly SqlTab[]>(stored.tabs.map(({ text: _, ...tab }) => tab));
for (const { id, text } of stored.tabs) texts.set(id, () => text);
const currentId = signal(stored.current);

/** Changes when a text was replaced from outside of the editor. */
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

/** Opens a tab and shows it. If the shown tab is blank, fills it instead. */
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
  write(true);
}

function write(isOpen: boolean): void {
  clearTimeout(timer);
  timer = undefined;
  const kept = tabs.peek().map((tab) => ({ ...tab, text: textOf(tab.id) }));
  store.write({ tabs: kept, current: currentTab.peek().id }, isOpen);
}

let isKept = false;

/** From now on other windows know that this one is open, and get its tabs when it is closed. */
export function keepTabs(): void {
  if (isKept) return;
  isKept = true;
  persistTabs();
  setInterval(persistTabs, beatMs);
  addEventListener('pagehide', () => write(false));
  addEventListener('pageshow', ({ persisted }) => persisted && persistTabs());
}

function blankTabs(): StoredTabs {
  const tab = { ...blankTab(1), text: '' };
  return { tabs: [tab], current: tab.id };
}

function blankTab(number: number): SqlTab {
  return { id: `tab-${randomText()}`, name: `Query ${number}`, engine: 'local' };
}

/** Windows that open at the same moment have others. */
function randomText(): string {
  const [number = 0, other = 0] = crypto.getRandomValues(new Uint32Array(2));
  return number.toString(36) + other.toString(36);
}

function nextNumber(): number {
  const numbers = tabs.peek().map(({ name }) => Number(/^Query (\d+)$/.exec(name)?.[1] ?? 0));
  return Math.max(0, ...numbers) + 1;
}
