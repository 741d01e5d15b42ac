import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Framehold, startFramehold } from '../support/framehold.ts';
import { type Answer, ask } from '../support/http-client.ts';
import { postSql, rowsOf, startLiveQuestDb } from '../support/live-questdb.ts';
import { questdbUnavailable } from '../support/questdb-unavailable.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { type Conversation, type Script, startUpstream, type Upstream } from '../support/upstream.ts';
import { answer, chunk, chunkedHead, lastChunk } from '../support/upstream-answer.ts';

const parquetType = { 'Content-Type': 'application/vnd.apache.parquet' };
const statement = 'SELECT sum(a)::BIGINT AS total, count(*) AS n FROM tsdb.t';
const whole = [[19_900, 200]];

/** What a well-behaved QuestDB says of a table `t` with one column. */
const columns = answer(JSON.stringify({ columns: [], dataset: [['a', 'INT', false]] }));

/** Says of which columns the table is, and does with exports what the test wants. */
function exporting(script: Script, described: Buffer = columns): Script {
  return (conversation) =>
    conversation.request.path === '/exp' ? script(conversation) : conversation.write(described);
}

async function liveFiles(server: Framehold): Promise<readonly string[]> {
  const names = await readdir(join(server.dataDir, 'live'), { recursive: true }).catch(() => []);
  return names.filter((name) => name.endsWith('.parquet'));
}

describe('a database that lies', () => {
  let upstream: Upstream;
  let server: Framehold;
  /** A file with the rows of `t`. */
  let file: Buffer;

  beforeAll(async () => {
    upstream = await startUpstream();
    const settings = {
      'tsdb.http_url': upstream.url.replace('//', '//admin:s3cret%40pass@'),
      'tsdb.federation_timeout': '700ms',
      'tsdb.max_federated_bytes': '200kB',
      'tsdb.max_exports': '1',
      'tsdb.max_queue': '1',
    };
    server = await startFramehold({ settings });
    file = await parquet('SELECT range::INT AS a FROM range(200)');
  });
  afterAll(async () => {
    await server[Symbol.asyncDispose]();
    await upstream[Symbol.asyncDispose]();
  });

  async function parquet(query: string): Promise<Buffer> {
    const search = new URLSearchParams({ query, engine: 'local', fmt: 'parquet', compression_codec: 'uncompressed' });
    return (await ask(`${server.url}/exp?${search}`)).body;
  }
  const sends =
    (bytes: Uint8Array): Script =>
    ({ write }) =>
      write(answer(bytes, { headers: parquetType }));
  const run = (sql = statement): Promise<Answer> => postSql(server.url, sql);

  async function expectRefusal(code: string, sql = statement): Promise<Answer> {
    const refused = await run(sql);
    expect([refused.status === 200, refused.json().code]).toEqual([false, code]);
    for (const secret of ['s3cret', upstream.url.slice(7), server.dataDir]) expect(refused.text).not.toContain(secret);
    expect(await liveFiles(server)).toEqual([]);
    return refused;
  }

  test('is not noticed while it tells the truth', async () => {
    upstream.script(exporting(sends(file)));
    expect((await run()).json().dataset).toEqual(whole);
  });

  test('and sends a part of the file, well ended, gives an error and never fewer rows', async () => {
    for (let length = 0; length < file.length; length += Math.ceil(file.length / 40)) {
      upstream.script(exporting(sends(file.subarray(0, length))));
      await expectRefusal('tsdb_unreachable');
    }
  });

  test.each(['end', 'reset'] as const)('and breaks off with %s in the middle gives an error', async (how) => {
    upstream.script(
      exporting(async (conversation) => {
        await conversation.write(chunkedHead({ headers: parquetType }));
        await conversation.write(chunk(file.subarray(0, 500)));
        conversation[how]();
      }),
    );
    await expectRefusal('tsdb_unreachable');
  });

  test('and breaks off behind the whole file, before its last chunk, gives an error', async () => {
    upstream.script(
      exporting(async (conversation) => {
        await conversation.write(chunkedHead({ headers: parquetType }));
        await conversation.write(chunk(file));
        conversation.end();
      }),
    );
    await expectRefusal('tsdb_unreachable');
    upstream.script(
      exporting(async (conversation) => {
        await conversation.write(chunkedHead({ headers: parquetType }));
        await conversation.write(Buffer.concat([chunk(file), lastChunk]));
      }),
    );
    expect((await run()).json().dataset).toEqual(whole);
  });

  test('with other rows in the footer than in its row groups', async () => {
    // The count of the file is the first of three numbers 200 (zigzag varint 400).
    const wrong = Buffer.from(file);
    const at = wrong.lastIndexOf(Buffer.from([0x16, 0x90, 0x03, 0x19]));
    expect(at).toBeGreaterThan(0);
    wrong[at + 1] = 0x92;
    upstream.script(exporting(sends(wrong)));
    await expectRefusal('tsdb_unreachable');
  });

  test.each([
    ['another name', 'SELECT range::INT AS b FROM range(200)'],
    ['another type', 'SELECT range AS a FROM range(200)'],
    ['one more', 'SELECT range::INT AS a, 1 AS b FROM range(200)'],
    ['a list', 'SELECT [range::INT] AS a FROM range(200)'],
  ])('in the columns of the file: %s', async (_, sql) => {
    upstream.script(exporting(sends(await parquet(sql))));
    expect((await expectRefusal('tsdb_unreachable')).json().error).toContain('other columns');
  });

  test('in the bytes of the values', async () => {
    const wrong = Buffer.from(file).fill(0xff, 4, 200);
    upstream.script(exporting(sends(wrong)));
    await expectRefusal('tsdb_unreachable');
  });

  test.each([
    ['HTML', answer('<html>proxy</html>', { headers: { 'Content-Type': 'text/html' } })],
    ['HTML as Parquet', answer('<html>proxy</html>', { headers: parquetType })],
    ['JSON', answer('{}')],
    ['an array', answer('[]')],
    ['nothing', answer('', { headers: parquetType })],
    ['a redirect', answer('', { status: 302, headers: { Location: 'http://169.254.169.254/' } })],
    ['502 of a proxy', answer('bad gateway', { status: 502 })],
    ['a failure of its own', answer('{"query":"x","error":"NullPointerException","position":0}', { status: 500 })],
  ])('with %s in the place of the file', async (_, bytes) => {
    upstream.script(exporting(({ write }) => write(bytes)));
    await expectRefusal('tsdb_unreachable');
  });

  test.each([
    ['HTML', answer('<html>'), 'tsdb_unreachable'],
    ['no columns', answer('{"dataset":[]}'), 'tsdb_unreachable'],
    ['a name with a quote', answer('{"dataset":[["a\\" from x; drop table y","INT",false]]}'), 'tsdb_unreachable'],
    ['a name twice', answer('{"dataset":[["a","INT",false],["A","INT",false]]}'), 'tsdb_unreachable'],
    ['a type of its own', answer('{"dataset":[["a","INT); DROP TABLE x","false"]]}'), 'unsupported_type'],
    ['an error', answer('{"error":"no","position":3}', { status: 400 }), 'sql_error'],
    [
      'a failure of its own',
      answer('{"error":"NullPointerException","position":0}', { status: 500 }),
      'tsdb_unreachable',
    ],
    ['no table', answer('{"error":"table does not exist [table=t]","position":3}', { status: 400 }), 'sql_error'],
    ['endless text', Buffer.concat([chunkedHead(), chunk(Buffer.alloc(20_000_000, 0x20))]), 'tsdb_unreachable'],
  ])('of its columns, with %s', async (_, bytes, code) => {
    upstream.script(exporting(sends(file), bytes));
    await expectRefusal(code);
  });

  test('and sends more than may be fetched is cut off', async () => {
    let isClosed = false;
    upstream.script(
      exporting(async ({ write, closed }) => {
        closed.then(() => {
          isClosed = true;
        });
        await write(chunkedHead({ headers: parquetType }));
        for (let sent = 0; sent < 100; sent++) await write(chunk(Buffer.alloc(10_000)));
      }),
    );
    const refused = await expectRefusal('too_large');
    expect(refused.json().hint).toContain('tsdb.max_federated_bytes');
    await expect.poll(() => isClosed).toBe(true);
  });

  test('and is silent is tsdb_timeout, and its connection is closed', async () => {
    const exports: Conversation[] = [];
    upstream.script(exporting((conversation) => void exports.push(conversation)));
    await expectRefusal('tsdb_timeout');
    await exports[0]?.closed;
    // Before an answer and in the middle of one.
    upstream.script(exporting(async ({ write }) => await write(chunkedHead({ headers: parquetType }))));
    await expectRefusal('tsdb_timeout');
    upstream.script(() => {});
    await expectRefusal('tsdb_timeout');
  });

  test('has no place for an export: the statement waits, then it is to come again', async () => {
    let refusals = 0;
    const busy = answer('exceeded connection limit\r\n', { status: 429, headers: { 'Content-Type': 'text/plain' } });
    upstream.script(exporting(({ write }) => (++refusals < 3 ? write(busy) : sends(file)({ write } as Conversation))));
    expect((await run()).json().dataset).toEqual(whole);
    upstream.script(exporting(({ write }) => write(busy)));
    const refused = await run();
    expect(['overloaded', 'tsdb_timeout']).toContain(refused.json().code);
  });

  test('one export runs, one waits, and a third statement is to come again', async () => {
    const exports: Conversation[] = [];
    let seen = (): void => {};
    const first = new Promise<void>((resolve) => {
      seen = resolve;
    });
    upstream.script(
      exporting((conversation) => {
        exports.push(conversation);
        seen();
      }),
    );
    const one = run();
    await first;
    const two = run();
    const answers = await Promise.all([run(), run()]);
    const codes = answers.map((each) => each.json().code);
    expect(codes).toContain('overloaded');
    expect(answers.find((each) => each.json().code === 'overloaded')?.headers['retry-after']).toBe('1');
    await Promise.all([one, two]);
    expect(await liveFiles(server)).toEqual([]);
  });

  test('a client that leaves ends its export', async () => {
    const started = new Promise<Conversation>((resolve) => {
      upstream.script(exporting(resolve));
    });
    const leaving = new AbortController();
    const asked = ask(`${server.url}/sql`, {
      method: 'POST',
      body: JSON.stringify({ sql: statement }),
      signal: leaving.signal,
    });
    const conversation = await started;
    leaving.abort();
    await expect(asked).rejects.toThrow();
    await conversation.closed;
  });

  test('hides its tables while it is silent, and nothing else', async () => {
    upstream.script(() => {});
    await postSql(server.url, 'CREATE OR REPLACE TABLE own AS SELECT 1 AS a');
    expect(await rowsOf(server.url, 'SELECT table_schema, table_name FROM information_schema.tables')).toEqual([
      ['frames', 'own'],
    ]);
    upstream.script(({ write }) => write(answer('<html>')));
    expect(await rowsOf(server.url, 'SHOW ALL TABLES')).toHaveLength(1);
    expect(await rowsOf(server.url, 'SELECT a FROM own')).toEqual([[1]]);
  });

  test('and fails at a query in its own dialect, which is no fault of the query', async () => {
    const failure = answer('{"query":"x","error":"NullPointerException","position":14}', { status: 500 });
    upstream.script(({ write }) => write(failure));
    const refused = await expectRefusal('tsdb_unreachable', "SELECT * FROM tsdb.query('select 1')");
    expect(refused.status).toBe(502);
    expect(refused.json().error).toBe('the external database failed: it answered 500');
  });

  test('a statement that is wrong fetches nothing', async () => {
    upstream.script(exporting(sends(file)));
    const before = upstream.requests.filter(({ path }) => path === '/exp').length;
    for (const sql of ['SELECT b FROM tsdb.t', 'SELECT a + [1] FROM tsdb.t', 'SELECT * FROM tsdb.t, nothing']) {
      await expectRefusal('sql_error', sql);
    }
    expect(upstream.requests.filter(({ path }) => path === '/exp')).toHaveLength(before);
  });
});

describe('rows that are kept for a while', () => {
  test('are fetched once for the same question, also at the same time, and go with the server', async () => {
    await using upstream = await startUpstream();
    await using folder = await temporaryDirectory();
    const settings = { 'tsdb.http_url': upstream.url, 'tsdb.federation_cache': '1h' };
    const server = await startFramehold({ settings, dataDir: folder.path });
    const search = new URLSearchParams({ query: 'SELECT 7 AS a', engine: 'local', fmt: 'parquet' });
    const { body } = await ask(`${server.url}/exp?${search}`);
    upstream.script(exporting(({ write }) => write(answer(body, { headers: parquetType }))));
    const exports = (): number => upstream.requests.filter(({ path }) => path === '/exp').length;
    const ten = Array.from({ length: 10 }, () => rowsOf(server.url, 'SELECT a FROM tsdb.t'));
    for (const rows of await Promise.all(ten)) expect(rows).toEqual([[7]]);
    expect(exports()).toBe(1);
    expect(await rowsOf(server.url, 'SELECT a + 1 FROM tsdb.t')).toEqual([[8]]);
    expect(exports()).toBe(1);
    expect(await rowsOf(server.url, 'SELECT a FROM tsdb.t WHERE a = 7 LIMIT 1')).toEqual([[7]]);
    expect(exports()).toBe(1);
    expect(await liveFiles(server)).toHaveLength(1);
    await server[Symbol.asyncDispose]();
    expect(await liveFiles(server)).toEqual([]);
  });

  test('are not those that failed', async () => {
    await using upstream = await startUpstream();
    const settings = { 'tsdb.http_url': upstream.url, 'tsdb.federation_cache': '1h' };
    await using server = await startFramehold({ settings });
    upstream.script(exporting(({ reset }) => reset()));
    expect((await postSql(server.url, statement)).json().code).toBe('tsdb_unreachable');
    const search = new URLSearchParams({ query: 'SELECT 7 AS a', engine: 'local', fmt: 'parquet' });
    const { body } = await ask(`${server.url}/exp?${search}`);
    upstream.script(exporting(({ write }) => write(answer(body, { headers: parquetType }))));
    await expect.poll(async () => (await postSql(server.url, 'SELECT a FROM tsdb.t')).json().dataset).toEqual([[7]]);
  });
});

test('what a server that was killed has left of live rows goes with the next start', async () => {
  await using folder = await temporaryDirectory();
  const left = join(folder.path, 'live', '999999999-abcdefgh', 'default');
  await mkdir(left, { recursive: true });
  await writeFile(join(left, 'a.parquet'), 'rows');
  await using server = await startFramehold({
    dataDir: folder.path,
    settings: { 'tsdb.http_url': 'http://127.0.0.1:1' },
  });
  await expect.poll(() => liveFiles(server)).toEqual([]);
});

test('a list of the tables of a database that cannot be reached says so, and lists of more leave them out', async () => {
  await using server = await startFramehold({ settings: { 'tsdb.http_url': 'http://127.0.0.1:1' } });
  for (const sql of ['SHOW TABLES FROM tsdb', 'show tables from framehold."TSDB";']) {
    expect((await postSql(server.url, sql)).json()).toMatchObject({
      code: 'tsdb_unreachable',
      error: 'the external database refused the connection',
      hint: 'check that it runs at tsdb.http_url',
    });
  }
  expect(await rowsOf(server.url, 'SHOW ALL TABLES')).toEqual([]);
});

describe.skipIf(await questdbUnavailable())('a real QuestDB', () => {
  test('that is killed in the middle of an export gives an error, and rows again when it is back', async () => {
    await using questdb = await startLiveQuestDb();
    await using server = await startFramehold({ settings: { 'tsdb.http_url': questdb.url } });
    const slow = postSql(
      server.url,
      "SELECT count(*) FROM tsdb.query('select x, rnd_str(20, 20, 0) s from long_sequence(20000000)')",
    );
    await expect.poll(() => liveFiles(server)).toHaveLength(1);
    await questdb.kill('SIGKILL');
    expect((await slow).json().code).toBe('tsdb_unreachable');
    expect(await liveFiles(server)).toEqual([]);
    expect((await postSql(server.url, 'SELECT * FROM tsdb.t')).json().code).toBe('tsdb_unreachable');
    expect(await rowsOf(server.url, 'SHOW ALL TABLES')).toEqual([]);
    await questdb.restart();
    await expect
      .poll(async () => (await postSql(server.url, "FROM tsdb.query('select 1 a')")).json().dataset)
      .toEqual([[1]]);
  }, 60_000);

  test('whose table is dropped, altered and filled while statements read it gives whole answers or errors', async () => {
    await using questdb = await startLiveQuestDb();
    await using server = await startFramehold({ settings: { 'tsdb.http_url': questdb.url } });
    const make =
      "create table t as (select timestamp_sequence('2026-01-01', 1000) ts, x a, x b from long_sequence(20000)) timestamp(ts) partition by day wal";
    let isOver = false;
    let whole = 0;
    const changing = (async () => {
      // Until a statement has read a whole table, too: QuestDB shows its rows a while after they are written.
      for (let round = 0; round < 6 || (whole === 0 && round < 60); round++) {
        await questdb.run(make);
        await questdb.run(
          'alter table t drop column b',
          'alter table t add column b double',
          'alter table t alter column a type int',
        );
        await questdb.run('drop table t');
      }
      isOver = true;
    })();
    const codes = new Set<unknown>();
    while (!isOver) {
      const { status, text } = await postSql(server.url, 'SELECT count(*), count(a), sum(a)::BIGINT FROM tsdb.t');
      const { dataset, code } = JSON.parse(text) as { dataset?: unknown[][]; code?: string };
      if (status !== 200) codes.add(code);
      else if (dataset?.[0]?.[0] !== 0) {
        expect(dataset).toEqual([[20_000, 20_000, 200_010_000]]);
        whole++;
      }
    }
    await changing;
    expect(whole).toBeGreaterThan(0);
    expect([...codes].filter((code) => code !== 'sql_error' && code !== 'tsdb_unreachable')).toEqual([]);
  }, 120_000);
});
