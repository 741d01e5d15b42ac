import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { httpStatus } from '../../src/http/exchange/error-response.ts';
import { type Framehold, startFramehold } from '../support/framehold.ts';
import { putSql } from '../support/frames.ts';
import { type Answer, type AskOptions, ask } from '../support/http-client.ts';

type Json = Record<string, unknown>;

interface Described {
  readonly operationId: string;
  readonly summary: string;
  readonly parameters: readonly { name: string; in: string; required?: boolean; description: string; schema: Json }[];
  readonly requestBody?: { content: Record<string, { schema: Json }> };
  readonly responses: Record<string, { content?: Record<string, { schema: Json }>; description?: string }>;
}

interface Document extends Json {
  readonly openapi: string;
  readonly paths: Record<string, Record<string, Described>>;
  readonly components: { schemas: Record<string, Json> };
}

let server: Framehold;
let document: Document;
beforeAll(async () => {
  server = await startFramehold();
  await putSql(server.frames, 'trades', 'SELECT range AS id FROM range(10)', { ttlMs: 60_000 });
  document = (await at('/openapi.json')).json() as Document;
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
});

const at = (path: string, options?: AskOptions): Promise<Answer> => ask(server.url + path, options);

function operations(): { path: string; method: string; operation: Described }[] {
  return Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  );
}

function schemas(): Json[] {
  return operations().flatMap(({ operation: { parameters, requestBody, responses } }) => [
    ...parameters.map(({ schema }) => schema),
    ...[requestBody, ...Object.values(responses)].flatMap((body) =>
      Object.values(body?.content ?? {}).map(({ schema }) => schema),
    ),
  ]);
}

/** What the document's own schemas say of a value. */
function validator(): Ajv2020 {
  const ajv = new Ajv2020({ allowUnionTypes: true, formats: { 'date-time': true, binary: true } });
  ajv.addVocabulary(['components']);
  return ajv;
}

function check(schema: Json, value: unknown): unknown {
  const ajv = validator();
  const valid = ajv.validate({ ...schema, components: document.components }, value);
  return valid ? 'valid' : ajv.errors;
}

const broken: [string, (copy: Document) => void][] = [
  ['a response without a description', (copy) => delete copy.paths['/ping']?.get?.responses['200']?.description],
  ['no version', (copy) => delete (copy.info as Json).version],
  [
    'a parameter without a place',
    (copy) => Object.assign(copy.paths['/handles']?.get?.parameters[0] ?? {}, { in: 'x' }),
  ],
  ['an unknown field', (copy) => Object.assign(copy.paths['/ping']?.get ?? {}, { sumary: 'x' })],
];

describe('GET /openapi.json', () => {
  test('is a valid OpenAPI 3.1 document', async () => {
    expect(document.openapi).toMatch(/^3\.1\./);
    const { valid, errors } = await new Validator().validate(document);
    expect(errors).toBeUndefined();
    expect(valid).toBe(true);
  });

  test.each(broken)('the validator would notice %s', async (_, damage) => {
    const copy = structuredClone(document);
    damage(copy);
    expect((await new Validator().validate(copy)).valid).toBe(false);
  });

  test('every schema in it is a valid one of JSON Schema 2020-12', () => {
    expect(schemas().length).toBeGreaterThan(50);
    const ajv = validator();
    for (const schema of schemas()) {
      expect(() => ajv.compile({ ...schema, components: document.components }), JSON.stringify(schema)).not.toThrow();
    }
  });

  test('has every path and method that the server answers, and no other', async () => {
    const hint = (await at('/nowhere')).json().hint as string;
    const paths = hint.replace('this server answers ', '').split(', ');
    expect(Object.keys(document.paths).sort()).toEqual(paths.sort());
    for (const path of paths) {
      const { headers } = await at(path.replaceAll(/\{\w+\}/g, 'trades'), { method: 'OPTIONS' });
      const methods = headers.allow?.split(', ').filter((method) => method !== 'OPTIONS');
      const described = Object.keys(document.paths[path] ?? {}).map((method) => method.toUpperCase());
      expect(described.sort(), path).toEqual(methods?.sort());
    }
  });

  test('names each operation once, and each place of a path', () => {
    const ids = operations().map(({ operation }) => operation.operationId);
    expect(new Set(ids).size).toBe(ids.length);
    for (const { path, operation } of operations()) {
      const places = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
      const inPath = operation.parameters.filter((parameter) => parameter.in === 'path');
      expect(inPath.map(({ name }) => name)).toEqual(places);
      for (const { name, description } of operation.parameters) expect(description, `${path} ${name}`).not.toBe('');
    }
  });

  test('tells the codes of each status', () => {
    const failures = document.paths['/handles/{handle}']?.delete?.responses ?? {};
    expect(failures['410']?.description).toContain('`handle_gone`');
    for (const { operation } of operations()) {
      for (const [status, { content }] of Object.entries(operation.responses)) {
        const [, more] = (content?.['application/json']?.schema.allOf ?? []) as { properties: { code: Json } }[];
        for (const code of (more?.properties.code.enum ?? []) as (keyof typeof httpStatus)[]) {
          expect(httpStatus[code]).toBe(Number(status));
        }
      }
    }
  });
});

describe('every example in it works', () => {
  test('bodies in JSON', async () => {
    let examples = 0;
    for (const { path, method, operation } of operations()) {
      const schema = operation.requestBody?.content['application/json']?.schema ?? {};
      for (const example of (schema.examples ?? []) as unknown[]) {
        const what = `${method} ${path} ${JSON.stringify(example)}`;
        expect(check(schema, example), what).toBe('valid');
        const answer = await at(path.replaceAll(/\{\w+\}/g, 'trades'), {
          method,
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(example),
        });
        expect(answer.status, `${what} ${answer.text}`).toBe(200);
        expectDescribed(operation, answer, what);
        examples++;
      }
    }
    expect(examples).toBeGreaterThan(8);
  });

  const base: Record<string, string> = {
    '/exec': 'handle=trades&fmt=json',
    '/exp': 'handle=trades',
    '/handles/{handle}/profile': 'column=id',
  };

  const places: Record<string, string> = { handle: 'trades', format: 'csv' };
  const placed = (path: string): string => path.replaceAll(/\{(\w+)\}/g, (_, name: string) => places[name] ?? '');

  test('parameters of GET', async () => {
    for (const { path, method, operation } of operations()) {
      if (method !== 'GET') continue;
      for (const { name, in: place, schema } of operation.parameters) {
        if (place !== 'query') continue;
        const { enum: choices = [], examples = [], default: normal } = schema as Record<string, unknown[] | undefined>;
        for (const value of [...choices, ...examples, ...(normal === undefined ? [] : [normal])]) {
          // Never ends.
          if (name === 'live' && value === 'sse') continue;
          const query = new URLSearchParams(base[path] ?? '');
          query.set(name, String(value));
          const answer = await at(`${placed(path)}?${query}`);
          expect(answer.status, `${path}?${query} ${answer.text}`).toBe(200);
        }
      }
    }
  });

  test('answers are as described', async () => {
    for (const [path, target] of [
      ['/exec', '/exec?handle=trades&fmt=json'],
      ['/handles', '/handles'],
      ['/handles/{handle}', '/handles/trades'],
      ['/handles/{handle}/profile', '/handles/trades/profile?column=id'],
      ['/info', '/info'],
      ['/openapi.json', '/openapi.json'],
    ] as const) {
      const operation = document.paths[path]?.get;
      if (operation === undefined) throw new Error(`${path} is not described`);
      expectDescribed(operation, await at(target), path);
    }
  });

  test('errors are of the one shape, with a code of their status', async () => {
    for (const [path, target] of [
      ['/exec', '/exec?handle=trades'],
      ['/handles', '/handles?order=x'],
      ['/handles/{handle}', '/handles/nobody'],
    ] as const) {
      const answer = await at(target);
      const schema = document.paths[path]?.get?.responses[answer.status]?.content?.['application/json']?.schema;
      expect(check(schema ?? { not: {} }, answer.json()), target).toBe('valid');
    }
  });
});

function expectDescribed(operation: Described, answer: Answer, what: string): void {
  const type = answer.headers['content-type']?.split(';', 1)[0] ?? '';
  const described = operation.responses[answer.status]?.content?.[type];
  expect(described, `${what}: ${answer.status} ${type}`).toBeDefined();
  if (type === 'application/json') expect(check(described?.schema ?? {}, answer.json()), what).toBe('valid');
}
