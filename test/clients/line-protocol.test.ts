import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Framehold, startFramehold } from '../support/framehold.ts';
import { ask } from '../support/http-client.ts';
import { needed } from '../support/missing.ts';
import { questDbClient } from './support/node-client.ts';
import { pythonSuite } from './support/python-suite.ts';

await pythonSuite('questdb and influxdb-client', 'line_cases');

const questDb = await needed('@questdb/nodejs-client', questDbClient);

describe.skipIf(questDb === undefined)('@questdb/nodejs-client', () => {
  let server: Framehold;
  beforeAll(async () => {
    server = await startFramehold();
  });
  afterAll(async () => {
    await server[Symbol.asyncDispose]();
  });
  const connect = async () => {
    const sender = await questDb?.Sender.fromConfig(`http::addr=${new URL(server.url).host};`);
    if (sender === undefined) throw new Error('there is no client');
    return sender;
  };

  test('writes rows of every type', async () => {
    const sender = await connect();
    sender.table('node').symbol('sym', 'a b,c=d').floatColumn('px', 0.1).intColumn('n', 7);
    await sender.stringColumn('note', 'x "y" \\ \n日本').booleanColumn('ok', true).at(1763424000000000001n, 'ns');
    expect(await sender.flush()).toBe(true);
    await sender.close();
    expect((await ask(`${server.url}/exec?handle=node&fmt=json`)).json().dataset).toEqual([
      ['a b,c=d', 0.1, 7, 'x "y" \\ \n日本', true, '2025-11-18T00:00:00.000000001Z'],
    ]);
  });

  test('tells of the line that is wrong', async () => {
    const sender = await connect();
    await sender.table('node').floatColumn('px', 1).at(1n, 'ns');
    await sender.table('node').stringColumn('px', 'x').at(2n, 'ns');
    await expect(sender.flush()).rejects.toThrow('error in line 2');
    await sender.close();
  });
});
