/** `local`: of all windows of this browser; `session`: of this one, until it is closed. */
export type StorageName = 'local' | 'session';

/** Undefined where there is nothing, or nothing that can be read. */
export function readStored(key: string, of: StorageName = 'local'): unknown {
  try {
    return JSON.parse(storageOf(of).getItem(key) ?? 'null') ?? undefined;
  } catch {
    return undefined;
  }
}

/** False where the browser has no room for it. */
export function writeStored(key: string, value: unknown, of: StorageName = 'local'): boolean {
  try {
    storageOf(of).setItem(key, JSON.stringify(value));
    return true;
  } catch {
    return false;
  }
}

export function removeStored(key: string): void {
  try {
    localStorage.removeItem(key);
  } catch {
    // An entry that cannot be removed was not stored either.
  }
}

export function storedKeys(prefix: string): readonly string[] {
  try {
    return Object.keys(localStorage).filter((key) => key.startsWith(prefix));
  } catch {
    return [];
  }
}

/** Throws where the browser keeps nothing for this page. */
function storageOf(name: StorageName): Storage {
  return name === 'local' ? localStorage : sessionStorage;
}
