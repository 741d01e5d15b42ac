import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { tenantRoot } from '../../src/frames/disk/tenant-directory.ts';
import { startFramehold } from '../support/framehold.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { tenantCaller } from '../support/tenants.ts';

const rows = 20_000;
const csv = `n\n${Array.from({ length: rows }, (_, n) => n).join('\n')}\n`;
const lastRow = `/exec?handle=ticks&fmt=json&limit=${rows + 1},${rows + 1}`;

test('frames of a tenant whose folder was copied for another are two from then on, whatever is cached', async () => {
  await using directory = await temporaryDirectory();
  const settings = { 'auth.enabled': 'true', 'storage.cache_size_gb': '0.001' };
  const start = () => startFramehold({ dataDir: directory.path, settings });
  {
    await using server = await start();
    using source = await tenantCaller(server, 'source', { role: 'write' });
    expect((await source.ask('POST', '/imp?name=ticks', csv)).status).toBe(200);
    using copy = await tenantCaller(server, 'copy', { role: 'write' });
    expect((await copy.ask('POST', '/imp?name=own', 'n\n1\n')).status).toBe(200);
    for (const from of [1, 5000, 10_000])
      await source.ask('GET', `/exec?handle=ticks&fmt=json&limit=${from},${from + 9}`);
  }
  const cold = join(directory.path, 'cold');
  const [from, to] = ['source', 'copy'].map((name) => tenantRoot(cold, name as never)) as [string, string];
  await cp(from, to, { recursive: true });
  await using server = await start();
  const callers = await Promise.all(['source', 'copy'].map((name) => tenantCaller(server, name, { role: 'write' })));
  for (const [index, caller] of callers.entries()) {
    expect((await caller.ask('POST', '/imp?name=ticks&append=true', `n\n${-index - 1}\n`)).status).toBe(200);
  }
  for (const round of ['from the log', 'from Parquet']) {
    for (const [index, caller] of callers.entries()) {
      for (const read of ['first', 'second']) {
        const answer = await caller.ask('GET', lastRow);
        expect(answer.json().dataset, `${round}, ${read}`).toEqual([[-index - 1]]);
      }
      const file = await caller.ask('GET', '/exp?handle=ticks&fmt=csv');
      expect(file.text.trim().split('\n').at(-1), round).toBe(String(-index - 1));
    }
    for (const caller of callers) expect((await caller.ask('POST', '/handles/ticks/flush')).status).toBe(200);
  }
  for (const caller of callers) caller[Symbol.dispose]();
});
