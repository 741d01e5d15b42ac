import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));
const text = (path: string): string => readFileSync(join(root, path), 'utf8');
const page = 'docs/architecture.md';
const decisionsFolder = 'docs/decisions';
const decisions = readdirSync(join(root, decisionsFolder)).map((name) => `${decisionsFolder}/${name}`);
const packages = ['arrow-ipc', 'async', 'columns', 'duckdb', 'grpc', 'parquet', 'spark-connect'].map(
  (name) => `packages/${name}`,
);
const engines = ['src/engines', 'src/engines/spark'];
const readmes = [...packages, ...engines].map((folder) => `${folder}/README.md`);

/** What stands in code type, without blocks. */
function inCode(path: string): readonly string[] {
  return [
    ...text(path)
      .replaceAll(/^```[\s\S]*?^```/gm, '')
      .matchAll(/`([^`]+)`/g),
  ].map(([, code = '']) => code);
}

describe.each([page, ...readmes, ...decisions])('%s', (path) => {
  test('names files and folders that are there', () => {
    const beside = path.slice(0, path.lastIndexOf('/') + 1);
    const places = path === page ? ['', 'src/engines/duckdb/'] : [beside, `${beside}src/`, '', 'src/'];
    const named = inCode(path).filter(
      (code) => /^[\w.-]+(\/[\w.-]+)+\/?$/.test(code) && !/^(application|node_modules)\//.test(code),
    );
    const files = inCode(path).filter((code) => path !== page && /^[\w.-]+\.(ts|md)$/.test(code));
    const missing = [...named, ...files].filter((code) => !places.some((place) => existsSync(join(root, place, code))));
    expect(missing).toEqual([]);
  });
});

test.each(['README.md', page, ...readmes, ...decisions])(
  '%s has the figures of the guides to performance and reliability',
  (path) => {
    const rows = measuredRows();
    const wrong: string[] = [];
    for (const sentence of text(path)
      .replaceAll(/\s+/g, ' ')
      .split(/(?<=\.) /)) {
      const cases = [...sentence.matchAll(/`([\w-]+)`/g)].flatMap(([, name = '']) => rows.get(name) ?? []);
      if (cases.length === 0) continue;
      const measured = new Set(cases.flatMap(numbersIn));
      const unknown = numbersIn(sentence.replaceAll(/`[^`]*`|\[[^\]]*\]\([^)]*\)/g, ' ')).filter(
        (each) => !measured.has(each),
      );
      if (unknown.length > 0) wrong.push(`${unknown.join(', ')} in: ${sentence}`);
    }
    expect(wrong).toEqual([]);
  },
);

/** The lines of their tables, by the name of a case or a scenario. */
function measuredRows(): ReadonlyMap<string, string> {
  const lines = [
    ...text('docs/guides/performance.md').matchAll(/^\| `([\w-]+)` (.*)$/gm),
    ...text('docs/guides/reliability.md').matchAll(/^\| ([A-Z]\d\w*(?:-\w+)?) (.*)$/gm),
  ];
  const rows = new Map<string, string>();
  for (const [, name = '', rest = ''] of lines) rows.set(name, `${rows.get(name) ?? ''} ${rest}`);
  return rows;
}

function numbersIn(line: string): readonly string[] {
  return line.match(/(?<![\w.])\d+(?:[.,]\d+)*/g) ?? [];
}

test.each(decisions.filter((each) => !each.endsWith('/README.md')))(
  '%s is listed in the index, and as others are',
  (path) => {
    const lines = text(path).split('\n');
    const name = path.slice(decisionsFolder.length + 1);
    expect(text(`${decisionsFolder}/README.md`)).toContain(`| [${lines[0]?.slice(2)}](${name}) |`);
    if (name === 'event-loop.md') return;
    expect(lines.length).toBeLessThanOrEqual(31);
    const parts = [...text(path).matchAll(/^\*\*([\w ]+)\.\*\*/gm)].map(([, part]) => part);
    expect(parts).toEqual(['Context', 'Decision', 'Consequences', 'Alternatives that lost']);
  },
);

test(`the tree of ${page} has every folder, as deep as it goes, and no other`, () => {
  const [, tree = ''] = /^```\n(src\/\n[\s\S]*?)^```/m.exec(text(page)) ?? [];
  const listed = new Map<string, Set<string>>();
  const above: string[] = [];
  for (const line of tree.trimEnd().split('\n')) {
    const [indent = ''] = /^ */.exec(line) ?? [];
    const [names = '', rest = ''] = line.trim().split(/ {2,}/, 2);
    const folders = names.split(' ').filter((name) => name.endsWith('/'));
    above.length = indent.length / 2;
    const parent = above.join('');
    for (const folder of folders) {
      listed.set(parent, (listed.get(parent) ?? new Set()).add(folder));
      const path = parent + folder;
      for (const [inner] of rest.matchAll(/(?<![\w/])[\w-]+\/(?!\w)/g)) {
        if (existsSync(join(root, path, inner))) listed.set(path, (listed.get(path) ?? new Set()).add(inner));
      }
    }
    above.push(folders[0] ?? '');
  }
  const wrong: string[] = [];
  for (const [parent, folders] of listed) {
    for (const folder of folders) if (!existsSync(join(root, parent, folder))) wrong.push(`${parent}${folder} is gone`);
    if (parent === '') continue;
    const found = readdirSync(join(root, parent), { withFileTypes: true }).filter((entry) => entry.isDirectory());
    for (const { name } of found) if (!folders.has(`${name}/`)) wrong.push(`${parent}${name}/ is not listed`);
  }
  expect(wrong).toEqual([]);
  expect(listed.size).toBeGreaterThan(10);
});
