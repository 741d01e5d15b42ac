import { randomInt } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { isLeftOutHere } from './harness/needs.ts';
import { runScenario } from './harness/run-scenario.ts';
import type { Figures, Scenario, Size } from './harness/scenario.ts';
import { scenarios } from './scenarios.ts';

const usage = `npm run torture -- [--only ID]… [--seed N] [--rounds N | --share N] [--size ci|release]

Runs the scenarios of test/faults at the size of a release, one after another, and prints a report. Takes hours;
--share 0.1 runs a tenth of the rounds of each.
`;

interface Row {
  readonly id: string;
  readonly promise: string;
  readonly seed: number;
  readonly minutes: number;
  readonly outcome: 'kept' | 'BROKEN' | 'left out';
  readonly figures: Figures;
  readonly error?: string;
}

const { values } = parseArgs({
  options: {
    only: { type: 'string', multiple: true },
    seed: { type: 'string' },
    rounds: { type: 'string' },
    share: { type: 'string', default: '1' },
    size: { type: 'string', default: 'release' },
    help: { type: 'boolean', default: false },
  },
});

if (values.help) process.stdout.write(usage);
// A scenario that broke may have left clients at work, which would go on for ever.
else process.exit(await torture());

async function torture(): Promise<number> {
  const only = values.only ?? [];
  const unknown = only.filter((id) => !scenarios.some((scenario) => scenario.id === id));
  if (unknown.length > 0 || (values.size !== 'ci' && values.size !== 'release')) {
    const known = scenarios.map(({ id }) => id).join(', ');
    process.stderr.write(`${usage}\nthe scenarios are ${known}\n`);
    return 2;
  }
  const chosen = scenarios.filter(({ id }) => only.length === 0 || only.includes(id));
  const rows: Row[] = [];
  for (const scenario of chosen) {
    const row = await attempt(scenario, values.size);
    rows.push(row);
    process.stdout.write(`${line(row)}\n`);
  }
  process.stdout.write(`\n${rows.map(line).join('\n')}\n\nwritten to ${await keepReport(rows)}\n`);
  return rows.some(({ outcome }) => outcome === 'BROKEN') ? 1 : 0;
}

async function attempt(scenario: Scenario, size: Size): Promise<Row> {
  const { id, promise } = scenario;
  const seed = values.seed === undefined ? randomInt(2 ** 31) : Number(values.seed);
  const rounds =
    values.rounds === undefined ? Math.ceil(scenario.rounds[size] * Number(values.share)) : Number(values.rounds);
  const startedAt = performance.now();
  const row = (outcome: Row['outcome'], figures: Figures = {}, error?: unknown): Row => ({
    id,
    promise,
    seed,
    minutes: Math.round((performance.now() - startedAt) / 6000) / 10,
    outcome,
    figures,
    ...(error !== undefined && { error: error instanceof Error ? error.message : String(error) }),
  });
  if (await isLeftOutHere(scenario)) return row('left out');
  process.stderr.write(`${id} with the seed ${seed}: ${promise} …\n`);
  try {
    const progress = (text: string): void => void process.stderr.write(`  ${text}\n`);
    return row('kept', await runScenario(scenario, { size, seed, rounds, progress }));
  } catch (error) {
    return row('BROKEN', {}, error);
  }
}

function line({ id, outcome, minutes, figures, error }: Row): string {
  const shown = Object.entries(figures).map(([name, value]) => `${name} ${value.toLocaleString('en-US')}`);
  return [`${id.padEnd(6)} ${outcome.padEnd(8)} ${minutes.toFixed(1).padStart(6)} min`, ...shown, error ?? '']
    .filter((text) => text !== '')
    .join('  ');
}

async function keepReport(rows: readonly Row[]): Promise<string> {
  const folder = new URL('./reports/', import.meta.url);
  await mkdir(folder, { recursive: true });
  const file = new URL(`${new Date().toISOString().replaceAll(':', '-').slice(0, 19)}.json`, folder);
  await writeFile(file, `${JSON.stringify(rows, null, 2)}\n`);
  return file.pathname;
}
