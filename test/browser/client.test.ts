import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import * as esbuild from 'esbuild';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { guideBlocks } from '../clients/support/guide.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { type ConsolePage, describeInBrowser, openConsole } from './support/console-page.ts';
import { type ClosedConsoleServer, startClosedConsoleServer, startConsoleServer } from './support/console-server.ts';

type Client = typeof import('#client/index.ts') & typeof import('#client/arrow.ts');

const root = fileURLToPath(new URL('../../', import.meta.url));
const page = `<!doctype html><link rel="icon" href="data:,"><script type="module">
  import * as client from './node_modules/@framehold/client/dist/index.js';
  import * as arrow from './arrow.js';
  globalThis.framehold = { ...client, ...arrow };
</script>`;

interface ServedPages extends AsyncDisposable {
  readonly url: string;
  /** More pages, by their paths. */
  readonly pages: Map<string, string>;
}

/** The build of the client, which pages load as it is; only Arrow is bundled with its library. */
async function servePages(): Promise<ServedPages> {
  const { path: dist, ...directory } = await temporaryDirectory();
  await promisify(execFile)(process.execPath, [join(root, 'scripts', 'build-client.mjs'), dist]);
  const { outputFiles } = await esbuild.build({
    entryPoints: [join(dist, 'arrow.js')],
    bundle: true,
    write: false,
    platform: 'browser',
    format: 'esm',
    nodePaths: [join(root, 'node_modules')],
  });
  const pages = new Map([['/', page]]);
  const server = createServer(async (request, response) => {
    const path = request.url ?? '';
    const name = /^\/node_modules\/@framehold\/client\/dist\/([\w-]+\.js)$/.exec(path)?.[1];
    const script = path === '/arrow.js' ? outputFiles[0]?.contents : name && (await readFile(join(dist, name)));
    response.setHeader('content-type', script ? 'text/javascript' : 'text/html');
    response.end(script || pages.get(path));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    pages,
    async [Symbol.asyncDispose]() {
      server.close();
      await directory[Symbol.asyncDispose]();
    },
  };
}

describeInBrowser('the client for TypeScript in a page of another origin', () => {
  let framehold: ClosedConsoleServer;
  let served: ServedPages;
  let opened: ConsolePage;
  let token: string;
  beforeAll(async () => {
    served = await servePages();
    framehold = await startClosedConsoleServer({ flags: ['--http-cors-origins', served.url] });
    ({ token } = await framehold.makeToken('write'));
    // The browser writes every answer of an error as an error.
    opened = await openConsole('', { url: served.url, allowed: /status of 4\d\d|ERR_UNSAFE_PORT/ });
    await opened.page.waitForFunction(() => 'framehold' in globalThis);
  });
  afterAll(async () => {
    await opened[Symbol.asyncDispose]();
    await framehold[Symbol.asyncDispose]();
    await served[Symbol.asyncDispose]();
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

  test('the page of the guide sends a file with progress, and follows what becomes of it', async () => {
    await using open = await startConsoleServer({ flags: ['--http-cors-origins', served.url] });
    const [guide] = guideBlocks('typescript.md').filter(({ language }) => language === 'html');
    const html = (guide?.code ?? '').replace('http://localhost:9000', open.url);
    served.pages.set('/guide', html.replace('<title>', '<link rel="icon" href="data:,"><title>'));
    await using shown = await openConsole('guide', { url: served.url });
    const { page: tab } = shown;
    await tab.locator('#file').setInputFiles({
      name: 'prices.csv',
      mimeType: 'text/csv',
      buffer: Buffer.from('symbol,price\nBTC,1.5\nETH,2\n'),
    });
    await expect.poll(() => tab.locator('#shown').textContent()).toBe('2 rows, 1.5, 2');
    expect(await tab.locator('#sent').evaluate((bar) => (bar as HTMLProgressElement).value)).toBe(1);
    const { handles } = (await (await fetch(`${open.url}/handles`)).json()) as { handles: { handle: string }[] };
    await open.append(handles[0]?.handle ?? '', 'symbol,price\nXRP,3.25\n');
    await expect.poll(() => tab.locator('#shown').textContent()).toBe('2 rows, 1.5, 2, 3.25');
  });
});
