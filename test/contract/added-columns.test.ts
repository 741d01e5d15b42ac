import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Framehold, startFramehold } from '../support/framehold.ts';
import { ask } from '../support/http-client.ts';

describe('a column that lines bring', () => {
  let server: Framehold;
  let open: Framehold;
  beforeAll(async () => {
    server = await startFramehold();
    open = await startFramehold({ settings: { 'write.add_columns': 'true' } });
  });
  afterAll(async () => {
    await server[Symbol.asyncDispose]();
    await open[Symbol.asyncDispose]();
  });
  const write = (to: Framehold, path: string, body: string) => ask(`${to.url}${path}`, { method: 'POST', body });
  const read = async (from: Framehold) => {
    const { columns, dataset } = (await ask(`${from.url}/exec?handle=wide&fmt=json`)).json();
    return { names: (columns as { name: string }[]).map(({ name }) => name), dataset };
  };

  test('is NULL in older rows where the request or the operator lets it be added, and else refused', async () => {
    for (const [to, path] of [
      [server, '/write?columns=add'],
      [open, '/write'],
    ] as const) {
      expect((await write(to, '/write', 'wide a=1i 1\n')).status).toBe(204);
      const added = await write(to, path, 'wide b="x" 2\nwide a=3i,c=t 3\n');
      expect([added.status, added.text]).toEqual([204, '']);
      expect((await write(to, '/write', 'wide C=f 4\n')).status).toBe(204);
      const time = (n: number): string => `1970-01-01T00:00:00.00000000${n}Z`;
      expect(await read(to)).toEqual({
        names: ['a', 'timestamp', 'b', 'c'],
        dataset: [
          [1, time(1), null, null],
          [null, time(2), 'x', null],
          [3, time(3), null, true],
          [null, time(4), null, false],
        ],
      });
    }
    for (const [to, path] of [
      [server, '/write'],
      [open, '/write?columns=keep'],
    ] as const) {
      const refused = await write(to, path, 'wide d=1 5\n');
      expect([refused.status, refused.json().line]).toEqual([400, 1]);
    }
  });
});
