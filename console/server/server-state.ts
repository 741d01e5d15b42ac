import { signal } from '@preact/signals';
import type { Answer } from '#client/api.ts';
import { call } from '../api/request.ts';
import { type Sample, withSample } from './stats-history.ts';

export type RunningStatement = Answer<'GET /queries'>['queries'][number];
export type Engine = Answer<'GET /engines'>['engines'][number];
export type DamagedFrame = Answer<'GET /handles'>['handles'][number];
export type ShownConfig = Answer<'GET /config'>;

/** They stay when another view is shown, so that the plots go on where they were. */
export const samples = signal<readonly Sample[]>([]);
export const statements = signal<readonly RunningStatement[] | undefined>(undefined);
export const engines = signal<readonly Engine[] | undefined>(undefined);
export const damaged = signal<readonly DamagedFrame[]>([]);
export const config = signal<ShownConfig | undefined>(undefined);
/** Reason for which the last figures are missing. */
export const failure = signal<unknown>(undefined);

export async function loadFigures(abort: AbortSignal): Promise<void> {
  await noting(abort, async () => {
    const stats = await call('GET /stats', { signal: abort });
    samples.value = withSample(samples.peek(), { atMs: performance.now(), stats });
    statements.value = (await call('GET /queries', { signal: abort })).queries;
  });
}

export async function loadEngines(abort: AbortSignal): Promise<void> {
  await noting(abort, async () => {
    engines.value = (await call('GET /engines', { signal: abort })).engines;
  });
}

export async function loadDamaged(abort: AbortSignal): Promise<void> {
  await noting(abort, async () => {
    const { handles } = await call('GET /handles', { query: { state: 'damaged', limit: 100 }, signal: abort });
    damaged.value = handles;
  });
}

export async function loadConfig(abort: AbortSignal): Promise<void> {
  await noting(abort, async () => {
    config.value = await call('GET /config', { signal: abort });
  });
}

export async function cancelStatement(id: string, abort?: AbortSignal): Promise<void> {
  await call('DELETE /queries/{id}', { segments: { id }, signal: abort });
  statements.value = statements.peek()?.filter((each) => each.id !== id);
}

async function noting(abort: AbortSignal, load: () => Promise<void>): Promise<void> {
  try {
    await load();
    failure.value = undefined;
  } catch (error) {
    if (!abort.aborted) failure.value = error;
  }
}
