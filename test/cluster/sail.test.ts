import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Cleanup } from '../../src/core/cleanup.ts';
import { needed } from '../support/missing.ts';
import { engineBehaviour } from './engine-behaviour.ts';
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

  test.each(tpchQueries())('$name of TPC-H is answered as by the local engine', async ({ sql }) => {
    const expected = await door.rows({ sql, engine: 'local' });
    expect(answerDifference(expected, await door.rows({ sql, engine: 'cluster' }))).toBeUndefined();
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
