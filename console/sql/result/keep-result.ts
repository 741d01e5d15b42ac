import { type Signal, signal } from '@preact/signals';
import { isAbort } from '../../api/api-error.ts';
import { cancelQuery, keepStatement, newRequestId } from '../run/run-statement.ts';
import { type StatementRun, slots } from '../run/statement-run.ts';
import type { KeptFrame } from './result-source.ts';

/** All rows of a result, as a frame. */
export type KeepState =
  | { readonly kind: 'keeping'; cancel(): void }
  | { readonly kind: 'kept'; readonly frame: KeptFrame }
  | { readonly kind: 'failed'; readonly error: unknown };

const states = new WeakMap<StatementRun, Signal<KeepState | undefined>>();

/** Undefined: no copy of all rows was requested. */
export function keepStateOf(run: StatementRun): Signal<KeepState | undefined> {
  const known = states.get(run) ?? signal<KeepState | undefined>(undefined);
  states.set(run, known);
  return known;
}

/** Runs the statement once more, in the server, into a frame. */
export async function keepResult(
  run: StatementRun,
  keep: { readonly handle: string; readonly ttl: string },
): Promise<void> {
  const state = keepStateOf(run);
  const controller = new AbortController();
  const requestId = newRequestId();
  const cancel = (): void => {
    controller.abort();
    void cancelQuery(requestId).catch(() => undefined);
  };
  state.value = { kind: 'keeping', cancel };
  let release: (() => void) | undefined;
  try {
    release = await slots.take(controller.signal);
    const { sql, engine, params } = run;
    state.value = {
      kind: 'kept',
      frame: await keepStatement({ sql, engine, params, requestId, signal: controller.signal }, keep),
    };
  } catch (error) {
    state.value = isAbort(error) ? undefined : { kind: 'failed', error };
  } finally {
    release?.();
  }
}

/** A name that no frame has yet: of the moment. */
export function proposedHandle(now: Date): string {
  return `result_${now.toISOString().slice(0, 19).replace(/[-:]/g, '').replace('T', '_')}`;
}
