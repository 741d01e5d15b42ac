import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ClosedServer, startClosedServer } from '../support/closed-server.ts';
import { type Framehold, startFramehold } from '../support/framehold.ts';
import { putSql } from '../support/frames.ts';
import { type Answer, type AskOptions, ask } from '../support/http-client.ts';

let server: Framehold;
beforeAll(async () => {
  server = await startFramehold({ settings: { 'write.max_body': '1MB' } });
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
});

const write = (body: string | Uint8Array, path = '/write', options: AskOptions = {}): Promise<Answer> =>
  ask(`${server.url}${path}`, { method: 'POST', body, ...options });

async function rowsOf(handle: string): Promise<{ columns: unknown; dataset: unknown } | number> {
  const answer = await ask(`${server.url}/exec?handle=${handle}&fmt=json`);
  if (answer.status !== 200) return answer.status;
  const { columns, dataset } = answer.json();
  return { columns, dataset };
}

describe('lines', () => {
  test('make a frame of their measurement, with the types of their values', async () => {
    const lines =
      'made,sym=A px=1.5,n=2i,ok=t,note="x y",at=5t 1763424000000000001\nmade,sym=B px=2 1763424000000000002\n';
    const answer = await write(lines);
    expect([answer.status, answer.text]).toEqual([204, '']);
    expect(await rowsOf('made')).toEqual({
      columns: [
        { name: 'sym', type: 'VARCHAR' },
        { name: 'px', type: 'DOUBLE' },
        { name: 'n', type: 'LONG' },
        { name: 'ok', type: 'BOOLEAN' },
        { name: 'note', type: 'VARCHAR' },
        { name: 'at', type: 'TIMESTAMP' },
        { name: 'timestamp', type: 'TIMESTAMP_NS' },
      ],
      dataset: [
        ['A', 1.5, 2, true, 'x y', '1970-01-01T00:00:00.000005Z', '2025-11-18T00:00:00.000000001Z'],
        ['B', 2, null, null, null, null, '2025-11-18T00:00:00.000000002Z'],
      ],
    });
  });

  test('are added to the frame that is there, by the names of its columns', async () => {
    await putSql(
      server.frames,
      'there',
      `SELECT 1.5::DOUBLE AS "Px", 'a' AS sym, TIMESTAMP '2025-11-18 00:00:00' AS timestamp, [1] AS list`,
    );
    const answer = await write('there,SYM=b px=7i 1763424000000001000\nthere px=8 1763424000000002000\n');
    expect([answer.status, answer.text]).toEqual([204, '']);
    expect(await rowsOf('there')).toMatchObject({
      dataset: [
        [1.5, 'a', '2025-11-18T00:00:00.000000Z', [1]],
        [7, 'b', '2025-11-18T00:00:00.000001Z', null],
        [8, null, '2025-11-18T00:00:00.000002Z', null],
      ],
    });
  });

  test('of several measurements go to the frame of each, also packed and by the door of InfluxDB 2', async () => {
    const packed = gzipSync('many_a x=1 1\nmany_b x=2i 2\nmany_a x=3 3');
    const answer = await write(packed, '/api/v2/write?bucket=b&org=o&precision=s', {
      headers: { 'content-encoding': 'gzip' },
    });
    expect([answer.status, answer.text]).toEqual([204, '']);
    expect(await rowsOf('many_a')).toMatchObject({
      dataset: [
        [1, '1970-01-01T00:00:01.000000000Z'],
        [3, '1970-01-01T00:00:03.000000000Z'],
      ],
    });
    expect(await rowsOf('many_b')).toMatchObject({ dataset: [[2, '1970-01-01T00:00:02.000000000Z']] });
  });

  test('without a timestamp have the time of the server', async () => {
    const before = Date.now();
    await write('clock x=1');
    const { dataset } = (await ask(`${server.url}/exec?handle=clock&fmt=json`)).json() as {
      dataset: [[number, string]];
    };
    const time = Date.parse(dataset[0][1]);
    expect(time).toBeGreaterThanOrEqual(before);
    expect(time).toBeLessThanOrEqual(Date.now());
  });

  test('sent by many at once are all kept', async () => {
    const answers = await Promise.all(Array.from({ length: 8 }, (_, n) => write(`crowd n=${n}i ${n}\n`)));
    expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(204));
    const { dataset } = (await ask(`${server.url}/exec?handle=crowd&fmt=json`)).json() as { dataset: [number][] };
    expect(dataset.map(([n]) => n).sort()).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
  });

  test('of Telegraf are kept, a frame for each measurement', async () => {
    const corpus = readFileSync(new URL('../fixtures/telegraf.lp', import.meta.url));
    const lines = corpus.toString().trimEnd().split('\n');
    const answer = await write(corpus, '/api/v2/write?bucket=telegraf&org=o');
    expect([answer.status, answer.text]).toEqual([204, '']);
    for (const measurement of new Set(lines.map((line) => line.split(',', 1)[0]))) {
      const counted = (await ask(`${server.url}/exec?handle=${measurement}&fmt=json`)).json().count;
      expect([measurement, counted]).toEqual([
        measurement,
        lines.filter((line) => line.startsWith(`${measurement},`)).length,
      ]);
    }
  });

  test('of nothing but comments are no request for anything', async () => {
    expect((await write('# nothing\n\n')).status).toBe(204);
    expect((await write('')).status).toBe(204);
  });
});

describe('a body with a bad line', () => {
  test('is refused in the shape of QuestDB, and nothing of it is kept', async () => {
    const headers = { 'x-request-id': 'r1' };
    const answer = await write('kept_a x=1 1\n\nkept_b y=1i 1\nkept_b y=1.5 2\n', '/write', { headers });
    expect([answer.status, answer.headers['content-type']]).toEqual([400, 'application/json; charset=utf-8']);
    expect(answer.json()).toEqual({
      code: 'invalid',
      message:
        'failed to parse line protocol:errors encountered on line(s):\nerror in line 4: column "y" of kept_b is LONG, and the value is DOUBLE',
      line: 4,
      errorId: 'r1',
    });
    expect([await rowsOf('kept_a'), await rowsOf('kept_b')]).toEqual([404, 404]);
  });

  test.each([
    ['ok x=1 1\n-x y=1 1\n', '"-x" is not a handle'],
    ['ok x=1 1\nnarrow z=1 1\n', 'column "z" is not in the frame narrow'],
    ['ok x=1 1\nnarrow a="x" 1\n', 'column "a" of narrow is LONG, and the value is VARCHAR'],
    [Buffer.from([...Buffer.from('ok x=1 1\nok,a='), 0xc3, 0x28, 10]), 'the line is not UTF-8'],
  ])('such as %j is told of by its second line', async (body, message) => {
    await putSql(server.frames, 'narrow', 'SELECT 1::BIGINT AS a', { mode: 'overwrite' });
    const answer = await write(body);
    expect([answer.status, answer.json().line]).toEqual([400, 2]);
    expect(answer.json().message).toContain(`error in line 2: ${message}`);
    expect(await rowsOf('ok')).toBe(404);
  });
});

describe('a request', () => {
  test.each([
    ['/write?precision=x', 'precision "x" is not valid'],
    ['/write?colums=add', 'parameter "colums" is not known here; did you mean columns?'],
  ])('%s is refused', async (path, message) => {
    const answer = await write('x a=1', path);
    expect([answer.status, answer.json()]).toMatchObject([
      400,
      { code: 'invalid', message: expect.stringContaining(message) },
    ]);
    expect(answer.json()).not.toHaveProperty('line');
  });

  test('with a part of a producer is refused', async () => {
    const answer = await write('x a=1', '/write', { headers: { 'producer-id': 'p' } });
    expect([answer.status, answer.json().message]).toEqual([
      400,
      expect.stringContaining('Producer-Epoch and Producer-Seq'),
    ]);
  });

  test('with too large a body is refused, packed or not', async () => {
    const body = Buffer.alloc(1_000_001, '\n');
    for (const answer of [
      await write(body),
      await write(gzipSync(body), '/write', { headers: { 'content-encoding': 'gzip' } }),
    ]) {
      expect([answer.status, answer.json().code]).toEqual([413, 'too_large']);
      expect(answer.json().message).toContain('write.max_body');
    }
  });

  test('by another method is refused', async () => {
    const answer = await ask(`${server.url}/write`);
    expect([answer.status, answer.json().code]).toEqual([405, 'method_not_allowed']);
  });
});

test("GET /settings tells QuestDB's clients what they ask for", async () => {
  const answer = await ask(`${server.url}/settings`);
  expect(answer.status).toBe(200);
  expect(answer.json().config).toEqual({
    'line.proto.support.versions': [1],
    'ilp.proto.transports': ['http'],
    'cairo.max.file.name.length': 127,
  });
});

describe('of a closed server', () => {
  let closed: ClosedServer;
  beforeAll(async () => {
    closed = await startClosedServer();
  });
  afterAll(async () => {
    await closed[Symbol.asyncDispose]();
  });
  const send = (authorization: string, body: string): Promise<Answer> =>
    ask(`${closed.server.url}/api/v2/write`, { method: 'POST', body, headers: { authorization } });

  test('the token may come as that of InfluxDB', async () => {
    expect((await send(`Token ${closed.token('writer')}`, 'mine a=1 1')).status).toBe(204);
    const refused = await send(`Token ${closed.token('reader')}`, 'mine a=1 1');
    expect([refused.status, refused.json()]).toMatchObject([403, { code: 'forbidden', errorId: expect.any(String) }]);
    const wrong = await send('Token nothing', 'mine a=1 1');
    expect([wrong.status, wrong.json()]).toMatchObject([401, { code: 'unauthenticated', message: expect.any(String) }]);
  });

  test('a token with a prefix learns nothing of other frames', async () => {
    const { token } = await closed.makeToken('write', { prefix: 'a_' });
    await closed.untilKnown(token);
    for (const handle of ['mine', 'nobody']) {
      const answer = await send(`Bearer ${token}`, `a_x v=1 1\n${handle} a="x" 1`);
      expect([answer.status, answer.json().line]).toEqual([403, 2]);
      expect(answer.json().message).toContain('your token is for handles that begin with a_');
    }
  });
});
