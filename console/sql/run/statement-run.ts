import { type Signal, signal } from '@preact/signals';
import { isAbort } from '../../api/api-error.ts';
import type { BoundParameters } from '../parameters/parameter-value.ts';
import { cancelQuery, newRequestId, runStatement, type StatementAnswer } from './run-statement.ts';
import { Slots } from './slots.ts';

export type RunState =
  | { readonly kind: 'queued' }
  | { readonly kind: 'running'; readonly startedAt: number }
  | { readonly kind: 'answered'; readonly answer: StatementAnswer; readonly ms: number }
  | { readonly kind: 'failed'; readonly error: unknown; readonly ms: number }
  | { readonly kind: 'cancelled'; readonly ms: number }
  /** An earlier one failed. */
  | { readonly kind: 'skipped' };

/** A statement that was started from a tab. */
export interface StatementRun {
  readonly id: string;
  readonly tab: string;
  /** As it stands in the editor. */
  readonly statement: string;
  /** As it is sent: with EXPLAIN before it, perhaps. */
  readonly sql: string;
  readonly engine: string;
  readonly door: 'sql' | 'read';
  /** The values of its parameters. */
  readonly params: BoundParameters | undefined;
  /** Start of the statement in the text of its tab. */
  readonly textAt: number;
  readonly at: number;
  readonly state: Signal<RunState>;
}

export interface StatementToRun {
  readonly statement: string;
  readonly textAt: number;
  readonly isExplain?: boolean;
  readonly params?: BoundParameters | undefined;
}

export const slots = new Slots(3);
const explainPrefix = 'EXPLAIN ';

/** The statements that the last start of each tab ran, one after another. */
export const runsByTab = signal<ReadonlyMap<string, readonly StatementRun[]>>(new Map());
const controllers = new Map<string, AbortController>();

export function isUnderWay({ kind }: RunState): boolean {
  return kind === 'queued' || kind === 'running';
}

/** Whether the statement is an EXPLAIN. */
export function isPlan(sql: string): boolean {
  return /^(?:\s|--[^\n]*\n|\/\*[^*]*\*\/)*explain\b/i.test(sql);
}

/** Position of the statement in the sent text. */
export function prefixLength(run: Pick<StatementRun, 'statement' | 'sql'>): number {
  return run.sql.length - run.statement.length;
}

export interface StartOptions {
  readonly tab: string;
  readonly engine: string;
  readonly door?: 'sql' | 'read';
  readonly onEnd?: (run: StatementRun) => void;
}

/** Runs statements of a tab one after another, until one fails. Cancels earlier ones of the tab. */
export async function startStatements(
  statements: readonly StatementToRun[],
  { tab, engine, door = 'sql', onEnd }: StartOptions,
): Promise<void> {
  cancelTab(tab);
  const controller = new AbortController();
  controllers.set(tab, controller);
  const runs = statements.map(({ statement, textAt, params, isExplain = false }): StatementRun => {
    const sql = isExplain && !isPlan(statement) ? `${explainPrefix}${statement}` : statement;
    const state = signal<RunState>({ kind: 'queued' });
    return { id: newRequestId(), tab, statement, sql, engine, door, params, textAt, at: Date.now(), state };
  });
  runsByTab.value = new Map(runsByTab.peek()).set(tab, runs);
  let hasFailed = false;
  for (const run of runs) {
    if (hasFailed) {
      run.state.value = { kind: 'skipped' };
      continue;
    }
    await runOne(run, controller.signal);
    hasFailed = run.state.peek().kind !== 'answered';
    onEnd?.(run);
  }
}

async function runOne(run: StatementRun, abort: AbortSignal): Promise<void> {
  let startedAt = performance.now();
  const elapsed = (): number => performance.now() - startedAt;
  let release: (() => void) | undefined;
  try {
    release = await slots.take(abort);
    startedAt = performance.now();
    run.state.value = { kind: 'running', startedAt };
    const answer = await runStatement({ ...run, requestId: run.id, signal: abort });
    run.state.value = { kind: 'answered', answer, ms: elapsed() };
  } catch (error) {
    run.state.value = isAbort(error) ? { kind: 'cancelled', ms: elapsed() } : { kind: 'failed', error, ms: elapsed() };
  } finally {
    release?.();
  }
}

/** Aborts first, which closes the connection, so that there is one for the request that cancels. */
export function cancelTab(tab: string): void {
  controllers.get(tab)?.abort();
  for (const run of runsByTab.peek().get(tab) ?? []) {
    // The external database does not list its statements here, and stops with the connection.
    if (run.state.peek().kind === 'running' && run.engine !== 'tsdb') void cancelQuery(run.id).catch(() => undefined);
  }
}

export function forgetRuns(tab: string): void {
  cancelTab(tab);
  const left = new Map(runsByTab.peek());
  left.delete(tab);
  controllers.delete(tab);
  runsByTab.value = left;
}
