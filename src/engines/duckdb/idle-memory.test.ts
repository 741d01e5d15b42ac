import { readFileSync } from 'node:fs';
import { expect, test, vi } from 'vitest';
import { SqlLab } from '../../../test/support/sql-lab.ts';
import type { Tenant } from '../../core/callers/principal.ts';

const never = new AbortController().signal;

function ownMegabytes(pid: number): number {
  return Number(/^RssAnon:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1]) / 1000;
}

test.skipIf(process.platform !== 'linux').each(['all callers', 'one tenant'])(
  'a process for %s gives back the memory of a large statement once it is idle',
  async (callers) => {
    await using lab = await SqlLab.open();
    const reachOf = async () => ({ linksFolder: lab.path, hasAnalytics: false, shared: '' });
    await using engine = lab.newEngine({ workers: 1, reachOf: callers === 'one tenant' ? reachOf : undefined });
    const run = async (sql: string): Promise<void> => {
      const options = { signal: never, tenant: 'a' as Tenant };
      const statement = await engine.analyze(sql, options);
      if (statement.kind !== 'query') throw new Error('not a query');
      await using result = await engine.run({ query: statement.query, tables: [], form: 'ndjson' }, options);
      for await (const _ of result.rows());
    };
    await run('SELECT 1');
    const [pid = 0] = engine.pids;
    const before = ownMegabytes(pid);
    await run(
      "SELECT max(h) FROM (SELECT hash(range) AS h, repeat('x', 100) AS t FROM range(2_000_000) ORDER BY h, t)",
    );
    expect(ownMegabytes(pid)).toBeGreaterThan(before + 50);
    await vi.waitFor(() => expect(ownMegabytes(pid)).toBeLessThan(before + 30), { timeout: 10_000 });
  },
);
