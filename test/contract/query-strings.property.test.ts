import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ErrorCode } from '../../src/core/errors/app-error.ts';
import { httpStatus } from '../../src/http/exchange/error-response.ts';
import { type ArbitraryRequest, jsonRequest, plainRequest, uploadRequest } from '../support/arbitrary-request.ts';
import { type Framehold, startFramehold } from '../support/framehold.ts';
import { putSql } from '../support/frames.ts';
import { ask, sendRaw } from '../support/http-client.ts';

interface Operation {
  readonly parameters?: readonly { readonly name: string; readonly in: string }[];
  readonly requestBody?: {
    readonly content: Readonly<Record<string, { readonly schema: { readonly properties?: object } }>>;
  };
}

let server: Framehold;
/** What the server says that it takes. */
let paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
beforeAll(async () => {
  server = await startFramehold({ settings: { 'logging.level': 'warn' } });
  paths = (await ask(`${server.url}/openapi.json`)).json().paths as typeof paths;
  await putSql(server.frames, 'nums', 'SELECT range::INT AS a, range / 7 AS b FROM range(3)');
  await putSql(server.frames, 'texts', `SELECT * FROM (VALUES ('a,b'), (NULL), ('"'), (E'\\n')) AS v(t)`);
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
});

function parametersOf(path: string, method: string): string[] {
  const { parameters = [] } = paths[path]?.[method] ?? {};
  return parameters.filter((parameter) => parameter.in === 'query').map(({ name }) => name);
}

const errorKeys = new Set(['query', 'error', 'code', 'hint', 'position']);
/** What no request may bring about. */
const ownFaults: readonly string[] = [
  'internal',
  'engine_crashed',
  'frame_damaged',
  'overloaded',
] satisfies ErrorCode[];

/** That an answer is a success, or an error by the table, in the one shape. */
function expectByTable(status: number, contentType: string | undefined, body: string): void {
  if (status < 400) return;
  expect(contentType).toBe('application/json; charset=utf-8');
  const error = JSON.parse(body) as Record<string, unknown>;
  const code = error.code as ErrorCode;
  expect(status).toBe(httpStatus[code]);
  expect(ownFaults).not.toContain(code);
  expect(error.error).toEqual(expect.any(String));
  expect(Object.keys(error).filter((key) => !errorKeys.has(key))).toEqual([]);
}

const patience = 10_000;

async function answered({ target, ...options }: ArbitraryRequest): Promise<void> {
  const answer = await ask(`${server.url}${target}`, { ...options, signal: AbortSignal.timeout(patience) });
  expect(answer.headers['x-request-id']).toEqual(expect.any(String));
  if (options.method === 'HEAD') expect(answer.body.length).toBe(0);
  else if (answer.status !== 416) expectByTable(answer.status, answer.headers['content-type'], answer.text);
}

/** The same requests each time: a new seed finds new things, but not while others wait for CI. */
const seed = 20261115;

/** Some at a time, as they would come. */
async function allAnswered(request: fc.Arbitrary<ArbitraryRequest>, numRuns: number): Promise<void> {
  await fc.assert(
    fc.asyncProperty(fc.array(request, { minLength: 1, maxLength: 12, size: 'max' }), async (requests) => {
      await Promise.all(requests.map(answered));
    }),
    { seed, numRuns, interruptAfterTimeLimit: 40_000 },
  );
}
const timeout = 90_000;

test('any query string is answered, or refused by the table of errors', { timeout }, async () => {
  const operations = [
    ['get', '/exec'],
    ['get', '/exp'],
    ['get', '/handles'],
    ['get', '/handles/{handle}'],
    ['post', '/handles/{handle}/renew'],
    ['get', '/info'],
  ] as const;
  const known = operations.map(([method, path]) => {
    const names = parametersOf(path, method);
    return { method: method.toUpperCase(), path, names };
  });
  await allAnswered(plainRequest([...known, { method: 'DELETE', path: '/handles/made', names: [] }]), 200);
});

test('any upload is kept, or refused by the table of errors', { timeout }, async () => {
  await allAnswered(uploadRequest('/imp', parametersOf('/imp', 'post')), 60);
});

test('any body of /sql is answered, or refused by the table of errors', { timeout }, async () => {
  const { schema } = paths['/sql']?.post?.requestBody?.content['application/json'] ?? { schema: {} };
  await allAnswered(jsonRequest('/sql', Object.keys(schema.properties ?? {})), 80);
});

test('any bytes as a request line are answered, or refused by the table of errors', { timeout }, async () => {
  const line = fc.tuple(
    fc.constantFrom('GET /exec?handle=nums&fmt=json', 'GET /exp?handle=nums', 'GET /handles?prefix=n'),
    fc.array(fc.tuple(fc.nat(), fc.integer({ min: 1, max: 255 })), { maxLength: 4 }),
  );
  await fc.assert(
    fc.asyncProperty(line, async ([target, changes]) => {
      const bytes = Buffer.from(target);
      for (const [at, byte] of changes) bytes[at % bytes.length] = byte;
      const rest = Buffer.from(' HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n');
      const [head = '', body = ''] = (await sendRaw(server.url, Buffer.concat([bytes, rest]))).split('\r\n\r\n');
      const [, status] = /^HTTP\/1\.1 (\d{3}) /.exec(head) ?? [];
      const [, contentType] = /^content-type: (.*)$/im.exec(head) ?? [];
      expect(Number(status)).toBeGreaterThanOrEqual(200);
      expectByTable(Number(status), contentType, body);
    }),
    { seed, numRuns: 150, interruptAfterTimeLimit: 20_000 },
  );
});

test('after all of it the server serves', async () => {
  expect((await ask(`${server.url}/ping`)).text).toBe('ok');
  expect((await ask(`${server.url}/exec?query=select+1+as+a&engine=local&fmt=json`)).json()).toMatchObject({
    count: 1,
  });
});
