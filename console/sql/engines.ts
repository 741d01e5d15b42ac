import { signal } from '@preact/signals';
import type { Answer } from '#client/api.ts';
import { call } from '../api/request.ts';

export type Engine = Answer<'GET /engines'>['engines'][number];

const refreshAfterMs = 10_000;

export const engines = signal<readonly Engine[]>([]);
let askedAt = Number.NEGATIVE_INFINITY;

/** Asks how the engines are, unless that was a moment ago: the server asks every cluster then. */
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

/** Undefined: it is not known yet, or there is no such engine; `auto` is read as the local one reads it. */
export function kindOf(engine: string): string | undefined {
  if (engine === 'auto') return 'duckdb';
  if (engine === 'tsdb') return 'questdb';
  return engines.value.find(({ name }) => name === engine)?.kind;
}
