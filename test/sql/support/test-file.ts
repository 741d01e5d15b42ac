import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

/** A file of records in the form of sqllogictest. README.md in the folder above tells the format. */
export interface TestFile {
  /** Below `test/sql`, without its ending, e.g. `joins/inner`. */
  readonly path: string;
  /** Its first comment. */
  readonly title: string;
  /** What its queries run on besides the local engine. */
  readonly engines: readonly Engine[];
  readonly records: readonly SqlRecord[];
}

export const engines = ['duckdb', 'framehold', 'spark', 'sail'] as const;
export type Engine = (typeof engines)[number];

export interface RecordBase {
  /** Of the record's first line, counted from 1. */
  readonly line: number;
  readonly sql: string;
  readonly isFor: (engine: Engine) => boolean;
  /** Of `POST /sql`. */
  readonly parameters: readonly unknown[];
}

export type SqlRecord =
  | (RecordBase & { readonly kind: 'ok' })
  /** `message` is a part of the engine's. */
  | (RecordBase & { readonly kind: 'error'; readonly message: string })
  | (RecordBase & {
      readonly kind: 'query';
      /** A letter a column: T text, I a whole number, R a number that may differ in its last digits. */
      readonly letters: string;
      readonly sort: Sort;
      /** Queries of one label have the same rows. */
      readonly label: string | undefined;
      readonly expected: readonly (readonly string[])[];
    });

const sorts = ['nosort', 'rowsort', 'valuesort'] as const;
export type Sort = (typeof sorts)[number];

/** Of the folder, in the order of their paths. */
export function testFilesIn(folder: string): TestFile[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.test'))
    .sort()
    .map((path) => {
      const name = relative('.', path).replaceAll('\\', '/').slice(0, -'.test'.length);
      return parseTestFile(name, readFileSync(join(folder, path), 'utf8'));
    });
}

function checkLabels(path: string, records: readonly SqlRecord[]): void {
  const rows = new Map<string, string>();
  for (const record of records) {
    if (record.kind !== 'query' || record.label === undefined) continue;
    const found = JSON.stringify(record.expected);
    if ((rows.get(record.label) ?? found) !== found) {
      throw new Error(
        `${path}.test:${record.line} expects other rows than the record before it with the label ${record.label}`,
      );
    }
    rows.set(record.label, found);
  }
}

interface Block {
  readonly line: number;
  readonly lines: readonly string[];
}

/** Records are apart by empty lines; so a value that is empty is written `(empty)`. */
export function parseTestFile(path: string, text: string): TestFile {
  const blocks = blocksOf(text);
  const title = /^# (.+)\n/.exec(text)?.[1];
  if (title === undefined) throw new Error(`${path} does not begin with a comment that is its title`);
  const records: SqlRecord[] = [];
  let also: readonly Engine[] = [];
  for (const { line, lines } of blocks) {
    const where = `${path}.test:${line}`;
    const [head = '', ...rest] = lines;
    if (head.startsWith('also-on '))
      also = head
        .split(' ')
        .slice(1)
        .map((name) => engineOf(name, where));
    else records.push(parseRecord([head, ...rest], line, where));
  }
  if (records.length === 0) throw new Error(`${path} has no records`);
  checkLabels(path, records);
  return { path, title, engines: also, records };
}

function blocksOf(text: string): Block[] {
  const blocks: { line: number; lines: string[] }[] = [];
  let open: { line: number; lines: string[] } | undefined;
  for (const [index, line] of text.split('\n').entries()) {
    if (line === '') open = undefined;
    else if (open === undefined) {
      if (line.startsWith('#')) continue;
      open = { line: index + 1, lines: [line] };
      blocks.push(open);
    } else open.lines.push(line);
  }
  return blocks;
}

function parseRecord(lines: readonly string[], line: number, where: string): SqlRecord {
  const conditions: ((engine: Engine) => boolean)[] = [];
  let parameters: readonly unknown[] = [];
  let at = 0;
  for (; ; at++) {
    const [word, ...words] = (lines[at] ?? '').split(' ');
    if (word === 'skipif' || word === 'onlyif') {
      const named = words.map((name) => engineOf(name, where));
      conditions.push((engine) => named.includes(engine) === (word === 'onlyif'));
    } else if (word === 'parameters') {
      parameters = JSON.parse(words.join(' ')) as unknown[];
    } else break;
  }
  const [word, ...words] = (lines[at] ?? '').split(' ');
  const end = lines.indexOf('----');
  const sql = lines.slice(at + 1, end < 0 ? undefined : end).join('\n');
  const below = end < 0 ? [] : lines.slice(end + 1);
  const isFor = (engine: Engine): boolean => conditions.every((holds) => holds(engine));
  const base: RecordBase = { line, sql, isFor, parameters };
  if (sql === '') throw new Error(`${where} has no statement`);
  if (word === 'statement' && words[0] === 'ok' && end < 0) return { ...base, kind: 'ok' };
  if (word === 'statement' && words[0] === 'error') return { ...base, kind: 'error', message: below.join('\n') };
  const [letters = '', sort = 'nosort', label] = words;
  if (word === 'query' && /^[TIR]+$/.test(letters) && end >= 0) {
    const expected = below.map((row) => row.split('\t'));
    const odd = expected.find((row) => row.length !== letters.length);
    if (odd !== undefined) throw new Error(`${where} has ${letters.length} columns, and a row of ${odd.length}`);
    return { ...base, kind: 'query', letters, sort: sortOf(sort, where), label, expected };
  }
  throw new Error(`${where} is no record: ${lines[at]}`);
}

function engineOf(name: string, where: string): Engine {
  const engine = engines.find((candidate) => candidate === name);
  if (engine === undefined) throw new Error(`${where} names the engine ${name}; there are ${engines.join(', ')}`);
  return engine;
}

function sortOf(name: string, where: string): Sort {
  const sort = sorts.find((candidate) => candidate === name);
  if (sort === undefined) throw new Error(`${where} sorts by ${name}; there are ${sorts.join(', ')}`);
  return sort;
}
