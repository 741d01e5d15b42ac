import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ask } from '../support/http-client.ts';
import { type SpawnedFramehold, spawnFramehold } from '../support/spawned-framehold.ts';
import { type TemporaryDirectory, temporaryDirectory } from '../support/temporary-directory.ts';

let directory: TemporaryDirectory;
let server: SpawnedFramehold;

beforeAll(async () => {
  directory = await temporaryDirectory();
  server = await spawnFramehold({ dataDir: directory.path, flags: ['--auth-enabled'] });
});

afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await directory[Symbol.asyncDispose]();
});

const browser = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };
const at = (path: string, headers: Record<string, string> = {}) => ask(`${server.url}${path}`, { headers });

describe('the console', () => {
  test('is what a browser gets at /, without credentials, and nothing may frame it or bring it scripts', async () => {
    const answer = await at('/', browser);
    expect(answer.status).toBe(200);
    expect(answer.headers['content-type']).toBe('text/html; charset=utf-8');
    expect(answer.headers['content-security-policy']).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; font-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
    );
    expect(answer.headers).toMatchObject({
      'referrer-policy': 'no-referrer',
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
    });
    expect(answer.text).toContain('<div id="app">');
  });

  test('is not sent again to a browser that has it', async () => {
    const { etag = '' } = (await at('/', browser)).headers;
    expect((await at('/', { ...browser, 'if-none-match': String(etag) })).status).toBe(304);
  });

  test('leaves / to others as it was: they are told what the server answers', async () => {
    const answer = await at('/');
    expect(answer.status).toBe(404);
    expect(answer.json()).toMatchObject({ code: 'not_found', hint: expect.stringContaining('/exec, /exp, /frames') });
  });

  test('loads files that are packed beforehand and never change', async () => {
    const page = (await at('/', browser)).text;
    const files = [...page.matchAll(/(?:src|href)="(console\/[^"]+)"/g)].map(([, path]) => path);
    expect(files.length).toBeGreaterThanOrEqual(3);
    for (const path of files) {
      const plain = await at(`/${path}`);
      expect(plain.status, path).toBe(200);
      expect(plain.headers['cache-control']).toBe('public, max-age=31536000, immutable');
      const br = await at(`/${path}`, { 'accept-encoding': 'br' });
      const gzip = await at(`/${path}`, { 'accept-encoding': 'gzip' });
      expect([br.headers['content-encoding'], gzip.headers['content-encoding']]).toEqual(['br', 'gzip']);
      expect(brotliDecompressSync(br.body).equals(plain.body)).toBe(true);
      expect(gunzipSync(gzip.body).equals(plain.body)).toBe(true);
    }
  });

  test('has no other files', async () => {
    for (const path of ['/console/index.html', '/console/none.js', '/console/..%2Fmain.js', '/console/']) {
      expect((await at(path, browser)).status, path).not.toBe(200);
    }
  });

  test('can be switched off', async () => {
    await using folder = await temporaryDirectory();
    await using other = await spawnFramehold({ dataDir: folder.path, env: { FRAMEHOLD_HTTP_CONSOLE: 'false' } });
    const answer = await ask(`${other.url}/`, { headers: browser });
    expect([answer.status, answer.json().code]).toEqual([404, 'not_found']);
  });
});
