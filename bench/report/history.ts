import { appendFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { historyPath } from '../harness/machine.ts';
import { type CaseReport, speedRatio } from './case-report.ts';
import type { Results } from './results.ts';

/** A line of bench/history.jsonl: what is kept of a run for good. */
export interface HistoryLine {
  /** When the run ended: ISO 8601, UTC. */
  readonly at: string;
  readonly commit: string;
  readonly cores: number;
  readonly node: string;
  readonly loadAverage: number;
  readonly cases: Readonly<Record<string, CaseHistory>>;
}

export interface CaseHistory {
  readonly unit: CaseReport['unit'];
  /** Of the first contender, which is ours. */
  readonly value: number;
  /** By the names of the others, how much better ours is: 2 is twice the speed, or half of the time. */
  readonly ratios: Readonly<Record<string, number>>;
}

const file = join(fileURLToPath(new URL('../..', import.meta.url)), historyPath);

/** Quick runs, whose figures mean nothing, and runs without a measured case leave no line. */
export async function appendHistory(results: Results, path: string = file): Promise<void> {
  if (results.quick || results.cases.length === 0) return;
  await appendFile(path, `${JSON.stringify(historyLine(results))}\n`);
}

function historyLine({ at, machine, cases }: Results): HistoryLine {
  const { commit, cores, node, loadAverage } = machine;
  const histories = cases.flatMap((report) => {
    const history = caseHistory(report);
    return history === undefined ? [] : [[report.name, history] as const];
  });
  return { at, commit, cores, node, loadAverage: rounded(loadAverage), cases: Object.fromEntries(histories) };
}

function caseHistory({ unit, better, rows: [ours, ...others] }: CaseReport): CaseHistory | undefined {
  if (ours === undefined) return undefined;
  const ratios = others.flatMap(({ who, value }) => {
    const ratio = speedRatio(ours.value, value, better);
    return ratio === undefined ? [] : [[who, rounded(ratio)] as const];
  });
  return { unit, value: rounded(ours.value), ratios: Object.fromEntries(ratios) };
}

/** To four digits, and from 1,000 on to whole numbers. */
function rounded(value: number): number {
  return Math.abs(value) >= 1000 ? Math.round(value) : Number(value.toPrecision(4));
}
