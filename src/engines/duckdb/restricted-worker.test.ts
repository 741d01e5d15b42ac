import { expect, test } from 'vitest';
import { restrictedThreadsOf } from '../../../test/support/process-facts.ts';
import { rowsOf, SqlLab } from '../../../test/support/sql-lab.ts';

test.runIf(process.platform === 'linux')(
  'a process that runs SQL of callers gives up its rights before it starts the threads that run it',
  async () => {
    await using lab = await SqlLab.open();
    await using engine = lab.newEngine({ workers: 1, threads: 2 });
    await rowsOf(engine, 'SELECT count(*) AS n FROM range(3000000) WHERE hash(range) % 7 = 0');
    const [pid = 0] = engine.pids;
    const threads = restrictedThreadsOf(pid);
    expect(threads).toContain(pid);
    // One of DuckDB, and the one of libuv's pool. Those of V8 run from the start.
    expect(threads.length).toBeGreaterThanOrEqual(3);
  },
);
