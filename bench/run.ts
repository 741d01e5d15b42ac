import { Cleanup } from '../src/core/async/cleanup.ts';
import { cases } from './cases.ts';
import { type BenchArguments, parseArguments, usage } from './harness/arguments.ts';
import type { BenchCase } from './harness/bench-case.ts';
import { Lab } from './harness/lab.ts';
import { describeMachine } from './harness/machine.ts';
import { runRounds } from './harness/rounds.ts';
import { type CaseReport, reportCase } from './report/case-report.ts';
import { caseTable } from './report/case-table.ts';
import { appendHistory } from './report/history.ts';
import { writeReport } from './report/performance-report.ts';
import { type Failure, saveResults } from './report/results.ts';
import { RivalUnavailable } from './rivals/unavailable.ts';

/** Above this, other work on the machine is part of the measurement. */
const quietLoadAverage = 0.7;

async function main(options: BenchArguments): Promise<number> {
  const machine = describeMachine();
  console.log(`${machine.cpu}, ${machine.cores} cores, Node ${machine.node}, ${machine.commit}`);
  if (machine.loadAverage > quietLoadAverage) {
    console.log(`the machine is busy (load average ${machine.loadAverage.toFixed(1)}): do not trust the figures`);
  }
  if (options.quick) console.log('--quick: the figures mean nothing');

  const lab = new Lab({ quick: options.quick });
  const reports: CaseReport[] = [];
  const failures: Failure[] = [];
  for (const benchCase of cases) {
    if (options.names.length > 0 && !options.names.includes(benchCase.name)) continue;
    console.log(`\n${benchCase.name}: ${benchCase.title}`);
    try {
      reports.push(await runCase(benchCase, lab));
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      console.log(`  ${error instanceof RivalUnavailable ? 'left out' : 'FAILED'}: ${message}`);
      if (error instanceof RivalUnavailable) continue;
      failures.push({ name: benchCase.name, error: message });
      console.log(lab.lastLogLines());
    }
  }
  const at = new Date().toISOString();
  const results = { at, quick: options.quick, machine, cases: reports, failures };
  const path = await saveResults(results, options.jsonPath);
  await appendHistory(results);
  console.log(`\n${path}`);
  return failures.length === 0 ? 0 : 1;
}

async function runCase(benchCase: BenchCase, lab: Lab): Promise<CaseReport> {
  await using cleanup = new Cleanup();
  const notesBefore = lab.notes.length;
  const { contenders, verify } = await benchCase.prepare(lab, cleanup);
  const verified = await verify();
  console.log(`  the answers agree: ${verified}`);
  const series = await runRounds(contenders, lab.quick ? 1 : benchCase.rounds);
  const report = reportCase(benchCase, verified, series, lab.notes.slice(notesBefore));
  console.log(caseTable(report, lab));
  return report;
}

// An exit ends the servers and removes the files; a signal alone does not.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));

const names = cases.map(({ name }) => name);
try {
  const options = parseArguments(process.argv.slice(2), names);
  if (options.help)
    console.log(`${usage}\nCases:\n${cases.map(({ name, title }) => `  ${name.padEnd(24)}${title}`).join('\n')}`);
  else if (options.report) console.log(await writeReport(names, options));
  else process.exitCode = await main(options);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 2;
}
