import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { DataType } from '@framehold/columns';
import { describe, expect, test } from 'vitest';
import { clientTypes, type TypedDocument } from '../../scripts/reference/client-types.ts';
import { type DescribedPaths, renderHttpPage } from '../../scripts/reference/http-page.ts';
import { errorCodes } from '../../src/core/errors/app-error.ts';
import { execColumn } from '../../src/encoding/rows/exec-column.ts';
import { errorStatus } from '../../src/grpc/error-status.ts';
import { httpStatus } from '../../src/http/exchange/error-response.ts';
import { startFramehold } from '../support/framehold.ts';
import { ask } from '../support/http-client.ts';

const root = new URL('../../', import.meta.url).pathname;
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const pages = [
  ...[
    'README.md',
    'CHANGELOG.md',
    'CONTRIBUTING.md',
    'SECURITY.md',
    'bench/README.md',
    'deploy/README.md',
    'clients/README.md',
    'examples/README.md',
    'test/sql/README.md',
  ],
  ...markdownUnder('docs'),
];
const folders = readdirSync(root, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? entry.name : []));

function markdownUnder(directory: string): string[] {
  return readdirSync(join(root, directory), { withFileTypes: true }).flatMap((entry) => {
    const path = join(directory, entry.name);
    return entry.isDirectory() ? markdownUnder(path) : entry.name.endsWith('.md') ? [path] : [];
  });
}

describe('docs/reference', () => {
  test.each(errorCodes)('errors.md has %s with both its statuses', (code) => {
    expect(read('docs/reference/errors.md')).toContain(`| \`${code}\` | ${httpStatus[code]} | ${errorStatus[code]} |`);
  });

  test('http.md has every path that the server answers, with the parameters that it takes', async () => {
    await using server = await startFramehold();
    const openapi = (await ask(`${server.url}/openapi.json`)).json() as unknown as DescribedPaths;
    const page = read('docs/reference/http.md');
    expect(page, 'node scripts/generate-docs.mjs').toBe(renderHttpPage(page, openapi));
    const operations = Object.entries(openapi.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    );
    expect(operations.length).toBeGreaterThan(9);
    for (const operation of operations.filter((each) => !/^(HEAD|PUT) /.test(each))) {
      expect(page).toContain(`\`${operation}\``);
    }
  });

  test('the types of the TypeScript client are those of the document of the server', async () => {
    await using server = await startFramehold({
      settings: { 'auth.enabled': 'true', 'auth.anonymous': 'default:read' },
    });
    const openapi = (await ask(`${server.url}/openapi.json`)).json() as unknown as TypedDocument;
    expect(read('clients/typescript/src/api.ts'), 'node scripts/generate-docs.mjs').toBe(clientTypes(openapi));
  });

  test('http.md has a row for every parameter of /exec, though its tables are written by hand', async () => {
    await using server = await startFramehold();
    const openapi = (await ask(`${server.url}/openapi.json`)).json() as unknown as DescribedPaths;
    const [section = ''] = /^## `GET \/exec`$[\s\S]*?(?=^## )/m.exec(read('docs/reference/http.md')) ?? [];
    const parameters = openapi.paths['/exec']?.get?.parameters ?? [];
    const names = parameters.filter((parameter) => parameter.in === 'query').map(({ name }) => name);
    expect(names.length).toBeGreaterThan(9);
    for (const name of names) expect(section).toContain(`\n| \`${name}\` | `);
  });

  test('http.md shows the version of DuckDB that is pinned', () => {
    const { dependencies } = JSON.parse(read('package.json')) as { dependencies: Record<string, string> };
    const [pinned] = dependencies['@duckdb/node-bindings']?.split('-') ?? [];
    expect(read('docs/reference/http.md')).toContain(`"kind":"duckdb","state":"up","version":"${pinned}"`);
  });

  const int = (bits: 8 | 16 | 32 | 64 | 128, signed: boolean): DataType => ({ kind: 'int', bits, signed });
  const kinds: Record<DataType['kind'], readonly DataType[]> = {
    null: [{ kind: 'null' }],
    boolean: [{ kind: 'boolean' }],
    int: ([8, 16, 32, 64, 128] as const).flatMap((bits) => [int(bits, true), int(bits, false)]),
    float: [
      { kind: 'float', bits: 32 },
      { kind: 'float', bits: 64 },
    ],
    decimal: [{ kind: 'decimal', precision: 18, scale: 3 }],
    utf8: [{ kind: 'utf8' }],
    json: [{ kind: 'json' }],
    uuid: [{ kind: 'uuid' }],
    binary: [{ kind: 'binary' }],
    date: [{ kind: 'date' }],
    time: [{ kind: 'time', unit: 'us' }],
    timestamp: (['s', 'ms', 'us', 'ns'] as const).map((unit) => ({ kind: 'timestamp', unit, zoned: true })),
    interval: [{ kind: 'interval' }],
    list: [{ kind: 'list', element: { kind: 'utf8' } }],
    array: [{ kind: 'array', element: { kind: 'utf8' }, size: 2 }],
    struct: [{ kind: 'struct', fields: [] }],
    map: [{ kind: 'map', key: { kind: 'utf8' }, value: { kind: 'utf8' } }],
    union: [{ kind: 'union', members: [] }],
  };
  test.each(Object.entries(kinds))('types.md has the type names of %s', (_, types) => {
    for (const type of types) {
      const name = execColumn({ name: 'c', type }).type;
      const shown = type.kind === 'decimal' ? name.replace('18,3', 'p,s') : name;
      expect(read('docs/reference/types.md')).toContain(`\`${shown}\``);
    }
  });
});

test.each(pages)('every link of %s leads to a file', (page) => {
  const links = [...read(page).matchAll(/\]\((?!https?:|#)([^)#]+)/g)].map((match) => match[1] as string);
  for (const link of links) expect(() => readFileSync(join(root, dirname(page), link)), link).not.toThrow('ENOENT');
});

test.each(pages)('every link of %s to a heading leads to one', (page) => {
  const links = [...read(page).matchAll(/\]\((?!https?:)([^)#]*)#([^)]+)\)/g)];
  const headings = (path: string): readonly string[] =>
    [...withoutBlocks(read(path)).matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) => anchorOf(heading));
  const dead = links.filter(
    ([, path = '', anchor = '']) => !headings(path === '' ? page : join(dirname(page), path)).includes(anchor),
  );
  expect(dead.map(([link]) => link)).toEqual([]);
});

function withoutBlocks(text: string): string {
  return text.replaceAll(/^ *```[\s\S]*?^ *```/gm, '');
}

/** As GitHub makes it of a heading. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\p{M} _-]/gu, '')
    .replaceAll(' ', '-');
}

/** Folders that git ignores. */
const isMade = /\/(dist|results)\/?$/;

test.each(pages)('every path of the repository that %s names is there', (page) => {
  const code = withoutBlocks(read(page)).matchAll(/`(\.?\w[^`\s]*)`/g);
  const named = [...code].flatMap(([, text = '']) => (/^[\w.-]+(\/[\w.-]+)+\/?$/.test(text) ? text : []));
  const paths = named.filter((path) => folders.includes(path.split('/', 1)[0] ?? '') && !isMade.test(path));
  expect(paths.filter((path) => !existsSync(join(root, path)))).toEqual([]);
});

describe('docs/decisions/event-loop.md', () => {
  const page = read('docs/decisions/event-loop.md');
  const rows = page.split('\n').filter((line) => line.startsWith('| ') && !line.startsWith('| door '));

  test.each(rows)('names files that are there: %s', (row) => {
    const files = [...row.matchAll(/`((?:src|packages)\/[^`]+)`/g)].map(([, path]) => path ?? '');
    expect(files).not.toEqual([]);
    for (const file of files) expect(existsSync(join(root, file)), file).toBe(true);
  });
});
