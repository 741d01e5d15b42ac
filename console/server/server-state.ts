import { signal } from '@preact/signals';
import { getJson, request } from '../api/request.ts';
import { type Sample, type Stats, withSample } from './stats-history.ts';

export interface RunningStatement {
  readonly id: string;
  readonly tenant: string;
  readonly engine: string;
  readonly sql: string;
  readonly started: string;
  readonly elapsed_ms: number;
  readonly progress: { readonly tasks: number; readonly completed_tasks: number } | null;
}

export interface Engine {
  readonly name: string;
  readonly kind: string;
  readonly state: 'up' | 'down';
  readonly version: string | null;
  readonly problem?: string;
  readonly unstopped?: number;
  readonly default: boolean;
  readonly auto: boolean;
}

export interface DamagedFrame {
  readonly handle: string;
  readonly damaged: string | null;
}

export interface ShownConfig {
  readonly config_file: string | null;
  readonly settings: readonly {
    readonly key: string;
    readonly value: string | null;
    readonly origin: string;
    readonly needs_restart: boolean;
  }[];
}

/** They stay when another view is shown, so that the plots go on where they were. */
export const samples = signal<readonly Sample[]>([]);
export const statements = signal<readonly RunningStatement[] | undefined>(undefined);
export const engines = signal<readonly Engine[] | undefined>(undefined);
export const damaged = signal<readonly DamagedFrame[]>([]);
export const config = signal<ShownConfig | undefined>(undefined);
/** Why the last figures could not be had. */
export const failure = signal<unknown>(undefined);

export async function loadFigures(abort: AbortSignal): Promise<void> {
  await noting(abort, async () => {
    const stats = await getJson<Stats>('/stats', { signal: abort });
    samples.value = withSample(samples.peek(), { atMs: performance.now(), stats });
    statements.value = (await getJson<{ queries: readonly RunningStatement[] }>('/queries', { signal: abort })).queries;
  });
}

export async function loadEngines(abort: AbortSignal): Promise<void> {
  await noting(abort, async () => {
    engines.value = (await getJson<{ engines: readonly Engine[] }>('/engines', { signal: abort })).engines;
  });
}

export async function loadDamaged(abort: AbortSignal): Promise<void> {
  await noting(abort, async () => {
    const { handles } = await getJson<{ handles: readonly DamagedFrame[] }>('/handles?state=damaged&limit=100', {
      signal: abort,
    });
    damaged.value = handles;
  });
}

export async function loadConfig(abort: AbortSignal): Promise<void> {
  await noting(abort, async () => {
    config.value = await getJson<ShownConfig>('/config', { signal: abort });
  });
}

export async function cancelStatement(id: string, abort?: AbortSignal): Promise<void> {
  await request(`/queries/${encodeURIComponent(id)}`, { method: 'DELETE', signal: abort });
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
