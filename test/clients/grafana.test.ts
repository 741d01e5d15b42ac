import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { Cleanup } from '../../src/core/async/cleanup.ts';
import { defaultTenant } from '../../src/core/callers/principal.ts';
import { startFramehold } from '../support/framehold.ts';
import { needed } from '../support/missing.ts';
import { openRecords } from '../support/tenants.ts';
import { caseNames } from './support/case-names.ts';
import { CaseProgram } from './support/case-program.ts';
import { grpcAddress } from './support/case-suite.ts';
import { python } from './support/python.ts';
import { pythonCases } from './support/python-suite.ts';
import { startSecureServer } from './support/secure-server.ts';

const dayMs = 86_400_000;
const interpreter = await needed("what Grafana's plugin does", python);
const { source, command = [] } = pythonCases(interpreter, 'grafana_cases');

describe.skipIf(interpreter === undefined)("a client that does what Grafana's Flight SQL plugin does", () => {
  test('shakes hands once and uses its token for months, at every server of the directory, until it is revoked', async () => {
    await using cleanup = new Cleanup();
    // The servers are in this process, and take the clock from here when they start.
    const now = Date.now;
    let aheadMs = 0;
    const clock = vi.spyOn(Date, 'now').mockImplementation(() => now() + aheadMs);
    cleanup.defer(() => clock.mockRestore());
    const server = cleanup.use(await startSecureServer());
    const settings = {
      ...server.files.settings,
      'auth.enabled': 'true',
      'storage.parquet_path': join(server.dataDir, 'cold'),
    };
    const other = cleanup.use(await startFramehold({ settings }));
    const records = await openRecords(server);
    cleanup.defer(() => records[Symbol.dispose]());
    const rights = { role: 'read', tenant: defaultTenant, prefix: undefined } as const;
    const kept = await records.createToken({ ...rights, name: 'grafana', expiresAt: undefined });
    const ending = await records.createToken({ ...rights, name: 'day', expiresAt: Date.now() + dayMs });
    for (const [name, text] of Object.entries({
      token: kept.token,
      'day-token': ending.token,
      'other-server': grpcAddress(other),
    })) {
      await writeFile(join(server.folder, name), text);
    }

    const started = [...command, grpcAddress(server), server.url, server.folder];
    const program = cleanup.use(new CaseProgram(started, caseNames(source)));
    await program.run('two data sources shake hands once each, and query');
    for (const days of [1.01, 30, 120]) {
      aheadMs = days * dayMs;
      await program.run('the token without an end is good for a query');
      await program.run('the token of a day has ended');
      await program.run('another server of the directory takes the token');
    }
    await records.revokeToken(kept.record.id);
    await expect.poll(() => program.run('the token is refused').catch(String), { timeout: 2000 }).toBeUndefined();
  });
});
