import { vi } from 'vitest';

const longMs = 30_000;

/** Waits until the check passes: at once on a quick machine, and patiently on a busy one. */
export function soon<T>(check: () => T | Promise<T>): Promise<T> {
  return vi.waitFor(check, { timeout: longMs, interval: 20 });
}
