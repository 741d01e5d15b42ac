import { signal } from '@preact/signals';
import type { Answer } from '#client/api.ts';
import { call } from '../api/request.ts';

export type Engine = Answer<'GET /engines'>['engines'][number];

const refreshAfterMs = 10_000;

export const engines = signal<readonly Engine[]>([]);
let askedAt = Number.NEGATIVE_INFINITY;

/** Checks the engines' health, unless that was a moment ago: the server checks every cluster then. */
export async function refreshEngines(signal?: AbortSignal): Promise<void> {
  if (performance.now() - askedAt < refreshAfterMs) return;
  askedAt = performance.now();
  try {
    engines.value = (await call('GET /engines', { signal })).engines;
  } catch (error) {
    askedAt = Number.NEGATIVE_INFINITY;
    throw error;
  }
}

/** Undefined: unknown yet, or no such engine; the dialect of `auto` is that of local. */
export function kindOf(engine: string): string | undefined {
  if (engine === 'auto') return 'duckdb';
  if (engine === 'tsdb') return 'questdb';
  return engines.value.find(({ name }) => name === engine)?.kind;
}
