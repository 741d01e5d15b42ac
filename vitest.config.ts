import { defineConfig } from 'vitest/config';

/** Tests that start a DuckDB, another process or a listener. All others share one process, which loads the code once. */
const withProcesses = [
  'src/frames/*.test.ts',
  'src/engines/duckdb/*.test.ts',
  'src/engines/duckdb/worker/**/*.test.ts',
  'src/engines/spark/*.test.ts',
  'src/engines/tsdb/*.test.ts',
  'test/**/*.test.ts',
];

const shared = {
  testTimeout: 20_000,
  hookTimeout: 60_000,
  teardownTimeout: 10_000,
  // Vitest's own second is short on a machine that has other work.
  expect: { poll: { timeout: 10_000 } },
};

export default defineConfig({
  test: {
    maxWorkers: 2,
    passWithNoTests: false,
    projects: [
      {
        test: {
          ...shared,
          name: 'units',
          include: ['src/**/*.test.ts', 'bench/**/*.test.ts'],
          exclude: withProcesses,
          pool: 'threads',
          isolate: false,
        },
      },
      { test: { ...shared, name: 'processes', include: withProcesses, pool: 'forks' } },
    ],
  },
});
