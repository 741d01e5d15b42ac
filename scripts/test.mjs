import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { setPriority, tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { build, install, root } from './prepare.mjs';

const selected = process.argv.slice(2);
const inCi = process.env.CI === 'true';
const total = { passed: 0, failed: 0, skipped: 0 };
const failures = [];
const fileTimes = [];
/** What the whole suite may take: nine minutes of two cores. Processor time, because a machine with other work takes longer. */
const budgetSeconds = 2 * 9 * 60;
/** One file for each protocol: a broken build, or a difference between versions of Node, shows in any of them. */
const eachDoor = [
  'exec-handle',
  'exp',
  'imp',
  'post-sql',
  'handles',
  'flight-get',
  'flight-put',
  'flight-sql-statements',
].map((name) => `test/contract/${name}.test.ts`);

/** A step that is no test counts only when it fails: the closing line must never look better than the run was. */
function check(name, succeeded) {
  if (succeeded) return true;
  failures.push(name);
  total.failed += 1;
  return false;
}

/** `niceness`: its priority behind other processes; then its output comes at its end. */
async function vitest(name, node, args, { niceness = 0 } = {}) {
  const behind = niceness > 0;
  if (!behind) console.log(`${name} …`);
  const folder = mkdtempSync(join(tmpdir(), 'framehold-test-'));
  const report = join(folder, 'report.json');
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
  const cli = join(root, 'node_modules', 'vitest', 'vitest.mjs');
  const stdio = behind ? ['ignore', 'pipe', 'pipe'] : 'inherit';
  const child = spawn(node, [cli, 'run', ...reporters, ...args], { cwd: root, stdio });
  if (behind) setPriority(child.pid, niceness);
  const printed = [];
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (piece) => printed.push(piece));
  const [status] = await once(child, 'close');
  if (behind) process.stdout.write(`${name} …\n${Buffer.concat(printed)}`);
  const counts = readCounts(report);
  rmSync(folder, { recursive: true, force: true });
  total.passed += counts.passed;
  total.failed += counts.failed;
  total.skipped += counts.skipped;
  failures.push(...counts.failures);
  fileTimes.push(...counts.times);
  // An error outside of any test, or no test at all.
  check(name, status === 0 || counts.failed > 0);
}

function readCounts(report) {
  try {
    const json = JSON.parse(readFileSync(report, 'utf8'));
    const unread = json.testResults.filter((file) => file.status === 'failed' && file.assertionResults.length === 0);
    const failed = json.testResults.flatMap((file) => file.assertionResults.filter((test) => test.status === 'failed'));
    return {
      passed: json.numPassedTests,
      failed: json.numFailedTests + unread.length,
      skipped: json.numPendingTests + json.numTodoTests,
      times: json.testResults.map(({ name, startTime, endTime }) => ({ name, seconds: (endTime - startTime) / 1000 })),
      failures: [
        ...unread.map((file) => `${file.name}\n${indented(file.message)}`),
        ...failed.map((test) => `${test.fullName}\n${indented(test.failureMessages.join('\n'))}`),
      ],
    };
  } catch {
    return { passed: 0, failed: 0, skipped: 0, failures: [], times: [] };
  }
}

/** The first lines of a message: enough to know the failure by, with the whole of it further up. */
function indented(message) {
  const lines = message.split('\n').slice(0, 12);
  return lines.map((line) => `    ${line.slice(0, 300)}`).join('\n');
}

async function vitestOnNode24() {
  if (process.version.startsWith('v24.')) return;
  const args = [...eachDoor, '--testTimeout=180000'];
  let node;
  try {
    const { tsImport } = await import('tsx/esm/api');
    const { nodeBinary } = await tsImport('../test/support/node-binary.ts', import.meta.url);
    node = await nodeBinary(24);
  } catch (error) {
    if (inCi) check(`finding a Node 24: ${error.message}`, false);
    else console.log(`left out: the contract tests on Node 24, since ${error.message}`);
    return;
  }
  await vitest('a contract test of each door on Node 24', node, args, { niceness: 5 });
}

async function lintAndTypes() {
  const tsc = (...args) => tool('typescript/bin/tsc', ['--noEmit', ...args]);
  const lint = [inCi ? 'ci' : 'check', '--error-on-warnings', '--colors=off'];
  check('linting', await tool('@biomejs/biome/bin/biome', lint));
  check('checking types', await tsc());
  check('checking types of the console', await tsc('--project', 'console'));
  check('checking types of the browser tests', await tsc('--project', 'test/browser'));
}

/** Runs a program of node_modules beside the tests, quietly unless it fails. */
async function tool(path, args) {
  const child = spawn(process.execPath, [join(root, 'node_modules', path), ...args], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const printed = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (piece) => printed.push(piece));
  const [status] = await once(child, 'close');
  if (status !== 0) process.stderr.write(Buffer.concat(printed));
  return status === 0;
}

/** Resolves when all that tests need is there, or cannot be fetched. */
async function fetchTools() {
  const tsx = join(root, 'node_modules', 'tsx', 'dist', 'cli.mjs');
  const child = spawn(process.execPath, [tsx, join(root, 'scripts', 'fetch-tools.mjs')], {
    cwd: root,
    stdio: 'inherit',
  });
  await once(child, 'exit');
}

function printSlowest(count) {
  const slowest = fileTimes.toSorted((a, b) => b.seconds - a.seconds).slice(0, count);
  if (slowest.length === 0) return;
  console.log(`the ${slowest.length} slowest files, in seconds:`);
  for (const { name, seconds } of slowest) console.log(`${seconds.toFixed(1).padStart(7)}  ${relative(root, name)}`);
}

/** Of this process and of all that it started and waited for; undefined where the system does not count it. */
function processorSeconds() {
  try {
    const stat = readFileSync('/proc/self/stat', 'latin1');
    const ticks = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return ticks.slice(11, 15).reduce((sum, each) => sum + Number(each), 0) / 100;
  } catch {
    return undefined;
  }
}

function printCost() {
  const spent = processorSeconds();
  const minutes = (seconds) => `${(seconds / 60).toFixed(1)} min`;
  console.log(`${minutes(performance.now() / 1000)}${spent === undefined ? '' : `, ${minutes(spent)} of a processor`}`);
  if (inCi && selected.length === 0 && spent > budgetSeconds)
    console.log(`warning: the suite takes more of a processor than its budget of ${minutes(budgetSeconds)}`);
}

/** By which the next runs begin with the longest files. */
function keepDurations() {
  const durations = {};
  for (const { name, seconds } of fileTimes.toSorted((a, b) => a.name.localeCompare(b.name))) {
    const path = relative(root, name);
    if (seconds >= 3) durations[path] = Math.max(Math.round(seconds), durations[path] ?? 0);
  }
  writeFileSync(join(root, 'test', 'file-durations.json'), `${JSON.stringify(durations, undefined, 2)}\n`);
}

/** What most changes break: units, the gate of SQL, the store, and a file for each door. */
async function shortSuite() {
  await vitest('units and the gate', process.execPath, ['--project', 'units', '--project', 'library']);
  await vitest('the store and the doors', process.execPath, ['--project', 'processes', 'src/frames/', ...eachDoor]);
}

/**
 * A cluster would take all of a small machine, and tests with time limits would fail. Those tests wait much: in that time the
 * cluster runs, and then Node 24.
 */
async function wholeSuite(fetched) {
  const onCluster = vitest('tests on a cluster', process.execPath, ['--project', 'cluster'], { niceness: 10 });
  const others = vitest('tests', process.execPath, ['--project', '!cluster']);
  await Promise.race([onCluster, others]);
  await fetched;
  await Promise.all([onCluster, others, vitestOnNode24()]);
}

if (check('installing', install())) {
  const isShort = selected[0] === '--check';
  // Meanwhile: on a new machine it takes minutes, mostly of waiting.
  const fetched = selected.length > 0 ? undefined : fetchTools();
  if (check('building', build())) {
    const checked = lintAndTypes();
    if (isShort) await shortSuite();
    else if (selected.length > 0) await vitest('tests', process.execPath, selected);
    else await wholeSuite(fetched);
    await checked;
  }
}

if (selected.length === 0) printSlowest(10);
printCost();
if (process.env.KEEP_DURATIONS === 'true') keepDurations();
// Once more at the end, where whoever reads a long log looks first.
for (const failure of failures) console.error(`failed: ${failure}`);
const { passed, failed, skipped } = total;
console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`);
process.exitCode = failed > 0 || passed === 0 ? 1 : 0;
