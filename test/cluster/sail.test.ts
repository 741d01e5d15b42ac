import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import { pipeline } from 'node:stream/promises';
import { createServer } from 'node:tls';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Cleanup } from '../../src/core/async/cleanup.ts';
import { needed } from '../support/missing.ts';
import { selfSigned } from '../support/self-signed.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { engineBehaviour } from './engine-behaviour.ts';
import { sqlFiles } from './sql-files.ts';
import { answerDifference } from './support/answer-difference.ts';
import { clusterVenv } from './support/cluster-venv.ts';
import { type EngineDoor, openEngineDoor } from './support/engine-door.ts';
import { type Sail, startSail } from './support/sail.ts';
import { tpchFolder, tpchQueries } from './support/tpch.ts';

const venv = await needed('Sail', clusterVenv);

describe.skipIf(venv === undefined)('Sail', () => {
  const cleanup = new Cleanup();
  let sail: Sail;
  let door: EngineDoor;
  beforeAll(async () => {
    sail = cleanup.use(await startSail());
    door = cleanup.use(await openEngineDoor({ engineUrl: sail.url, tables: await tpchFolder(0.1) }));
  });
  afterAll(async () => {
    await cleanup[Symbol.asyncDispose]();
  });

  engineBehaviour({ label: 'sail', engine: 'cluster', door: () => door });

  sqlFiles({ label: 'sail', door: () => door });

  test.each(tpchQueries())('$name of TPC-H is answered as by the local engine', async ({ sql }) => {
    const expected = await door.rows({ sql, engine: 'local' });
    expect(answerDifference(expected, await door.rows({ sql, engine: 'cluster' }))).toBeUndefined();
  });

  test('reads and writes below a folder whose name could be a pattern', async () => {
    await using odd = await openEngineDoor({ engineUrl: sail.url, folder: 'a[1] {b,c}*?%41' });
    await odd.rows({ sql: 'CREATE TABLE ids AS SELECT range AS id FROM range(5)', engine: 'local' });
    await odd.rows({ sql: 'CREATE TABLE kept AS SELECT id + 1 AS n FROM ids', engine: 'cluster' });
    const answer = await odd.rows({ sql: 'SELECT sum(n) AS s FROM kept JOIN ids ON n = id', engine: 'cluster' });
    expect(answer.dataset).toEqual([[10]]);
  });

  test('behind TLS is spoken to where its certificate is trusted, and not where it is not', async () => {
    await using folder = await temporaryDirectory();
    const { key, cert, certFile } = selfSigned(folder.path);
    const { hostname, port } = new URL(sail.url.replace('sc:', 'http:'));
    const gate = createServer({ key, cert, ALPNProtocols: ['h2'] }, (outside) => {
      const inside = connect(Number(port), hostname);
      pipeline(outside, inside, outside).catch(() => {});
    }).listen(0, 'localhost');
    await once(gate, 'listening');
    const engineUrl = `sc://localhost:${(gate.address() as AddressInfo).port}/;use_ssl=true;token=secret`;
    const question = { sql: 'SELECT sum(id) AS total FROM range(100000)', engine: 'cluster' };
    try {
      await using trusting = await openEngineDoor({ engineUrl, env: { NODE_EXTRA_CA_CERTS: certFile } });
      expect((await trusting.rows(question)).dataset).toEqual([[4999950000]]);
      await using doubting = await openEngineDoor({ engineUrl });
      const refused = await doubting.post(question);
      expect([refused.status, refused.json().code]).toEqual([502, 'engine_unreachable']);
      expect(refused.text).toContain('has a certificate that is not trusted');
    } finally {
      gate.close();
    }
  });

  test('that is not there is said so, and is used again when it is back', async () => {
    await sail.kill();
    const refused = await door.post({ sql: 'SELECT count(*) AS n FROM nation', engine: 'cluster' });
    expect([refused.status, refused.json().code]).toEqual([502, 'engine_unreachable']);
    expect(refused.text).not.toMatch(/127\.0\.0\.1|ECONNREFUSED|\n\s+at /);
    await sail.restart();
    expect((await door.rows({ sql: 'SELECT count(*) AS n FROM nation', engine: 'cluster' })).dataset).toEqual([[25]]);
  });
});
