import { defineConfig } from 'vitest/config';
import { LongestFirst } from './test/support/longest-first.ts';

/** Tests that run DuckDB's library in their own process. */
const withLibrary = ['src/engines/duckdb/worker/**/*.test.ts', 'packages/duckdb/**/*.test.ts'];

/** Tests that start another process or a listener. */
const withProcesses = [
  'src/frames/*.test.ts',
  'src/engines/duckdb/*.test.ts',
  'src/engines/spark/*.test.ts',
  'packages/spark-connect/**/*.test.ts',
  'src/engines/tsdb/*.test.ts',
  'test/**/*.test.ts',
];

/** Tests with a Spark or a Sail. */
const cluster = ['test/cluster/**/*.test.ts'];

/** Tests of the console in a real browser. */
const browser = ['test/browser/**/*.test.ts'];

const shared = {
  // A test that starts a process, or loads a library, beside other work may take many seconds.
  testTimeout: 60_000,
  hookTimeout: 120_000,
  teardownTimeout: 10_000,
  // Of the tests of a file that run at once.
  maxConcurrency: 3,
  // Vitest's own second is short on a machine that has other work.
  expect: { poll: { timeout: 10_000 } },
};

// Files share processes, each of which loads the code once: that is most of what a short file takes. Those with the library
// do not, because a call that never returns, or memory that it spoils, would be another file's failure.
export default defineConfig({
  test: {
    // One more than the cores that continuous integration has: many tests wait for a clock, a disk or another program.
    maxWorkers: 3,
    passWithNoTests: false,
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        test: {
          ...shared,
          name: 'units',
          include: [
            'src/**/*.test.ts',
            'packages/**/*.test.ts',
            'clients/typescript/**/*.test.ts',
            'console/**/*.test.ts',
            'bench/**/*.test.ts',
            'scripts/**/*.test.ts',
          ],
          exclude: [...withLibrary, ...withProcesses],
          pool: 'threads',
          isolate: false,
        },
      },
      { test: { ...shared, name: 'library', include: withLibrary, pool: 'forks' } },
      {
        test: {
          ...shared,
          name: 'processes',
          include: withProcesses,
          exclude: [...cluster, ...browser],
          pool: 'forks',
          isolate: false,
        },
      },
      {
        test: {
          ...shared,
          name: 'cluster',
          include: cluster,
          pool: 'forks',
          isolate: false,
          maxWorkers: 2,
          sequence: { groupOrder: 1 },
          // They may run with the time that all others leave.
          testTimeout: 120_000,
          hookTimeout: 300_000,
        },
      },
      {
        test: {
          ...shared,
          name: 'browser',
          include: browser,
          globalSetup: 'test/browser/support/setup.ts',
          pool: 'forks',
          isolate: false,
          maxWorkers: 2,
          // After the others: a page that waits for its turn looks like one that does not answer.
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
});
