import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Machine } from '../harness/machine.ts';
import type { CaseReport } from './case-report.ts';

export const resultsFolder = fileURLToPath(new URL('../results', import.meta.url));

/** The content of a file of bench/results. */
export interface Results {
  /** When the run ended: ISO 8601, UTC. */
  readonly at: string;
  readonly quick: boolean;
  readonly machine: Machine;
  readonly cases: readonly CaseReport[];
  readonly failures: readonly Failure[];
}

export interface Failure {
  readonly name: string;
  readonly error: string;
}

export async function saveResults(results: Results, jsonPath?: string): Promise<string> {
  const path = jsonPath ?? join(resultsFolder, `${results.at.replaceAll(':', '-').slice(0, 19)}.json`);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, `${JSON.stringify(results, undefined, 2)}\n`);
  return path;
}

export async function readResults(): Promise<Results[]> {
  const names = await readdir(resultsFolder).catch(() => []);
  const files = names.filter((name) => name.endsWith('.json')).map((name) => join(resultsFolder, name));
  return Promise.all(files.map(async (path) => JSON.parse(await readFile(path, 'utf8')) as Results));
}

/** All cases of the commit that was measured last, each as it was measured last. Undefined where there is no run. */
export function newestOfOneCommit(
  all: readonly Results[],
  { quick }: { readonly quick: boolean },
): Results | undefined {
  const newestFirst = all.filter((results) => results.quick === quick).sort((a, b) => (a.at < b.at ? 1 : -1));
  const [newest] = newestFirst;
  if (newest === undefined) return undefined;
  const ofCommit = newestFirst.filter(({ machine }) => machine.commit === newest.machine.commit);
  const cases = new Map<string, CaseReport>();
  for (const report of ofCommit.flatMap((results) => results.cases)) {
    if (!cases.has(report.name)) cases.set(report.name, report);
  }
  const failures = newest.failures.filter(({ name }) => !cases.has(name));
  return { ...newest, cases: [...cases.values()], failures };
}
