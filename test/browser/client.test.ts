import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import * as esbuild from 'esbuild';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ConsolePage, describeInBrowser, openConsole } from './support/console-page.ts';
import { type ClosedConsoleServer, startClosedConsoleServer } from './support/console-server.ts';

type Client = typeof import('#client/index.ts') & typeof import('#client/arrow.ts');

const entry = (name: string): string =>
  fileURLToPath(new URL(`../../clients/typescript/src/${name}.ts`, import.meta.url));

/** The client as a page of another origin loads it. */
async function servePage(): Promise<{ readonly server: Server; readonly url: string }> {
  const code = `import * as client from ${JSON.stringify(entry('index'))};
    import * as arrow from ${JSON.stringify(entry('arrow'))};
    globalThis.framehold = { ...client, ...arrow };`;
  const { outputFiles } = await esbuild.build({
    stdin: { contents: code, resolveDir: fileURLToPath(new URL('../../', import.meta.url)) },
    bundle: true,
    write: false,
    platform: 'browser',
    format: 'esm',
    target: 'es2022',
  });
  const script = outputFiles[0]?.contents ?? new Uint8Array();
  const server = createServer((request, response) => {
    const isScript = request.url === '/client.js';
    response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html');
    if (isScript) response.end(script);
    else response.end('<!doctype html><link rel="icon" href="data:,"><script type="module" src="client.js"></script>');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

describeInBrowser('the client for TypeScript in a page of another origin', () => {
  let framehold: ClosedConsoleServer;
  let served: Awaited<ReturnType<typeof servePage>>;
  let opened: ConsolePage;
  let token: string;
  beforeAll(async () => {
    served = await servePage();
    framehold = await startClosedConsoleServer({ flags: ['--http-cors-origins', served.url] });
    ({ token } = await framehold.makeToken('write'));
    // The browser writes every answer of an error as an error.
    opened = await openConsole('', { url: served.url, allowed: /status of 4\d\d|ERR_UNSAFE_PORT/ });
    await opened.page.waitForFunction(() => 'framehold' in globalThis);
  });
  afterAll(async () => {
    await opened[Symbol.asyncDispose]();
    await framehold[Symbol.asyncDispose]();
    served.server.close();
  });
  const to = () => ({ url: framehold.url, token });

  test('puts a file with progress, rows and Arrow, and gets them back', async () => {
    const seen = await opened.page.evaluate(async ({ url, token }) => {
      const { connect, arrow, arrowBytes } = (globalThis as unknown as { framehold: Client }).framehold;
      const db = connect(url, { token });
      const told: number[] = [];
      const csv = `n,text\n${Array.from({ length: 300_000 }, (_, at) => `${at},row ${at}`).join('\n')}\n`;
      const file = new File([csv], 'big.csv');
      const put = await db.put('big', file, { onProgress: ({ sentBytes }) => told.push(sentBytes) });
      await db.put('rows', [{ id: 2n ** 53n + 1n, at: new Date(0) }]);
      const [row] = await db.get<{ id: bigint; at: string }>('rows').rows();
      const table = await db.get('big', { columns: ['n'], rows: [0, 5] }).read(arrow);
      const copied = await db.put('copy', arrowBytes(table));
      let rows = 0;
      for await (const _ of db.get('big')) rows += 1;
      const streamed = await db.put('streamed', file.stream());
      return {
        put: put.rows,
        told: [told.at(-1) === file.size, told.every((bytes, at) => at === 0 || bytes >= (told[at - 1] ?? 0))],
        row: row && { id: String(row.id), at: row.at },
        copied: copied.rows,
        rows,
        streamed: streamed.rows,
      };
    }, to());
    expect(seen).toEqual({
      put: 300_000,
      told: [true, true],
      row: { id: '9007199254740993', at: '1970-01-01T00:00:00.000000Z' },
      copied: 5,
      rows: 300_000,
      streamed: 300_000,
    });
  });

  test('runs statements, appends, follows and goes on', async () => {
    const seen = await opened.page.evaluate(async ({ url, token }) => {
      const { connect } = (globalThis as unknown as { framehold: Client }).framehold;
      const db = connect(url, { token });
      const result = await db.sql<{ sum: bigint }>('SELECT sum(x) AS sum FROM (VALUES (1), ($1)) t(x)', {
        params: [2n ** 60n],
        id: 'from-the-browser',
      });
      const sums = (await result.rows()).map(({ sum }) => String(sum));
      const appender = db.append('ticks');
      await appender.write({ n: 1 });
      const stop = new AbortController();
      const followed: number[] = [];
      const following = (async () => {
        for await (const { n } of db.follow<{ n: bigint }>('ticks', { signal: stop.signal })) {
          followed.push(Number(n));
          if (followed.length === 3) break;
        }
      })();
      const acks = await Promise.all([appender.write({ n: 2 }), appender.write([{ n: 3 }])]);
      await appender.close();
      await following;
      return { sums, followed, versions: acks.map(({ version }) => version), seqs: acks.map(({ seq }) => seq) };
    }, to());
    expect(seen).toEqual({ sums: ['1152921504606846977'], followed: [1, 2, 3], versions: [2, 2], seqs: [1, 1] });
  });

  test('tells what is wrong, by its code, and stops by its signal', async () => {
    const seen = await opened.page.evaluate(async ({ url, token }) => {
      const { connect } = (globalThis as unknown as { framehold: Client }).framehold;
      const codeOf = (promise: Promise<unknown>) => promise.then(String, ({ code, name }) => code ?? name);
      const db = connect(url, { token });
      const stop = new AbortController();
      const long = db.sql('SELECT count(*) FROM range(1000000) a, range(1000000) b', { signal: stop.signal }).rows();
      const stopped = codeOf(long.catch((error: DOMException) => Promise.reject({ name: error.name })));
      setTimeout(() => stop.abort(), 100);
      return {
        unknown: await codeOf(db.get('nobody').rows()),
        stranger: await codeOf(connect(url, { token: 'fh_wrong' }).whoami()),
        away: await codeOf(connect('http://127.0.0.1:1').server()),
        stopped: await stopped,
      };
    }, to());
    expect(seen).toEqual({
      unknown: 'handle_not_found',
      stranger: 'unauthenticated',
      away: 'unreachable',
      stopped: 'AbortError',
    });
  });
});
