import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type StoredTab, TabStore } from './tab-store.ts';

/** Keys are properties, as of the browser's. */
class MemoryStorage {
  [key: string]: unknown;

  getItem(key: string): string | null {
    return Object.hasOwn(this, key) ? String(this[key]) : null;
  }

  setItem(key: string, value: string): void {
    this[key] = value;
  }

  removeItem(key: string): void {
    delete this[key];
  }
}

const tab = (text: string): StoredTab => ({ id: `tab-${text}`, name: 'Query 1', engine: 'local', text });
const textsOf = (store: TabStore): readonly string[] => (store.found?.tabs ?? []).map(({ text }) => text);

/** A window with a session of its own, or with that of another. */
function openWindow(id: string, session = new MemoryStorage()): { store: TabStore; session: MemoryStorage } {
  vi.stubGlobal('sessionStorage', session);
  return { store: TabStore.open(id), session };
}

function write({ store }: { store: TabStore }, text: string, isOpen?: boolean): void {
  store.write({ tabs: [tab(text)], current: `tab-${text}` }, isOpen);
}

describe('the tabs of windows', () => {
  beforeEach(() => {
    vi.useFakeTimers({ now: Date.UTC(2026, 0, 1) });
    vi.stubGlobal('localStorage', new MemoryStorage());
  });
  afterEach(() => {
    vi.useRealTimers();
    vi.unstubAllGlobals();
  });

  it('are their own, and come back after a reload', () => {
    const [one, other] = [openWindow('a'), openWindow('b')];
    write(one, 'one');
    write(other, 'other');
    write(one, 'one', false);
    expect(textsOf(openWindow('c', one.session).store)).toEqual(['one']);
  });

  it('are taken over by the next window when theirs was closed, without the blank ones', () => {
    const [one, other, blank] = [openWindow('a'), openWindow('b'), openWindow('c')];
    write(one, 'one', false);
    vi.advanceTimersByTime(1);
    write(other, 'other', false);
    write(blank, '', false);
    expect(textsOf(openWindow('d').store)).toEqual(['other', 'one']);
    expect(textsOf(openWindow('e').store)).toEqual([]);
  });

  it('stay with a window that is open, and are taken over when nothing was heard of it for long', () => {
    write(openWindow('a'), 'one');
    expect(textsOf(openWindow('b').store)).toEqual([]);
    vi.advanceTimersByTime(3_600_000);
    expect(textsOf(openWindow('c').store)).toEqual(['one']);
  });

  it('are copied by a copy of a window, which writes its own from then on', () => {
    const one = openWindow('a');
    write(one, 'one');
    const copied = Object.assign(new MemoryStorage(), one.session);
    const copy = openWindow('b', copied);
    expect(textsOf(copy.store)).toEqual(['one']);
    write(copy, 'changed');
    write(one, 'one', false);
    expect(textsOf(openWindow('c', one.session).store)).toEqual(['one']);
  });
});
