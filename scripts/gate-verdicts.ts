/**
 * Verdicts of the SQL gate on random statements, to compare two states of the code:
 * `node --import tsx scripts/gate-verdicts.ts 100000 [seed] [file]` prints a hash for each thousand, and writes the verdicts to the file.
 * The statements are those of the tests, also changed at random. They depend on the seed and on these tests alone.
 */

import { createHash } from 'node:crypto';
import { createWriteStream, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Session } from '@framehold/duckdb';
import { AppError } from '../src/core/errors/app-error.ts';
import type { Definition } from '../src/core/sql/definition.ts';
import { type Query, type TableName, tableText } from '../src/core/sql/sql.ts';
import { editedText, placeIn } from '../src/core/text/source-text.ts';
import { analyzeSql } from '../src/engines/duckdb/worker/gate/analyze.ts';

const [, , countText = '100000', seedText = '1', file] = process.argv;

let state = Number(seedText) >>> 0;
function random(below: number): number {
  state = (state + 0x6d2b79f5) >>> 0;
  let mixed = Math.imul(state ^ (state >>> 15), state | 1);
  mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
  return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
}
const pick = <T>(list: readonly T[]): T => list[random(list.length)] as T;

const literal = /\/\/[^\n]*|\/\*[\s\S]*?\*\/|'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`/g;
const escapes: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r' };

const filesIn = (folder: string, ending: string): readonly string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith(ending))
    .sort()
    .map((path) => join(folder, path));
const beginning =
  /^[\s(;]*(?:\/\*|--|select|with|from|values|table|insert|update|delete|merge|truncate|create|drop|alter|explain|describe|desc|summarize|show|pragma|pivot|unpivot)/i;

function seeds(): readonly string[] {
  const tests = filesIn('src/engines/duckdb/worker/gate', '.test.ts');
  const texts = tests.flatMap((path) =>
    [...readFileSync(path, 'utf8').matchAll(literal)].flatMap(([found]) => {
      if (found.startsWith('/')) return [];
      const text = found
        .slice(1, -1)
        .replace(/\\u\{?([0-9a-fA-F]{4,6})\}?/g, (_, code: string) => String.fromCodePoint(Number.parseInt(code, 16)))
        .replace(/\\(.)/gs, (_, letter: string) => escapes[letter] ?? letter)
        .replace(/\$\{[^}]*\}/g, 'x');
      return found.startsWith('`') && text.split('\n').length > 12 ? [...text.trim().split('\n')] : [text];
    }),
  );
  const files = filesIn('test/sql', '.test');
  const sections = files.flatMap((path) => readFileSync(path, 'utf8').split(/\n\s*\n/));
  const queries = sections.map(
    (section) => section.split('\n----')[0]?.replace(/^(?:#|statement|query).*\n/gm, '') ?? '',
  );
  return [...new Set([...texts, ...queries])].filter((text) => beginning.test(text) && text.length < 6_000);
}

const macro = (name: string, body: readonly (string | number)[], ...parameters: readonly string[]): Definition => ({
  kind: 'macro',
  name,
  id: name,
  forms: [{ parameters: parameters.map((each) => ({ name: each })), sql: body.join(''), body }],
});
const definitions: readonly Definition[] = [
  macro('twice', ['(', 0, ' + ', 0, ')'], 'x'),
  macro('pair', [0, ' || ', 1], 'a', 'b'),
  {
    ...macro('more', []),
    forms: [
      { parameters: [{ name: 'x' }], sql: '', body: [0, ' + 1'] },
      {
        parameters: [{ name: 'x' }, { name: 'by', default: '2' }, { name: 'z', default: "'é'" }],
        sql: '',
        body: [0, '*', 1, '*', 2],
      },
    ],
  },
  macro('forged', ["getenv('HOME')"]),
  macro('escaped', ['1) FROM read_text(', "'/etc/passwd'", ') --']),
  macro('counted', ['(SELECT count(*) FROM trades WHERE price > ', 0, ')'], 'x'),
  macro('found', [0, ' IN (SELECT price FROM trades WHERE price > ', 0, ')'], 'x'),
  macro('mapped', ['list_transform([1], lambda price: price + ', 0, ')'], 'x'),
  macro('unclosed', ['(SELECT 1 WHERE 1 = ', 0, " FROM read_text('/etc/passwd')"], 'x'),
  { ...macro('numbers', ['SELECT range AS n FROM range(', 0, ')'], 'n'), kind: 'table macro' },
  { ...macro('mood', ["ENUM ('sad', 'ok')"]), kind: 'type' },
  { ...macro('money', ['DECIMAL(10, 2)']), kind: 'type' },
  { ...macro('forged_type', ["INTEGER), getenv('HOME'), (1"]), kind: 'type' },
];

const token = /\s+|--[^\n]*|\/\*[\s\S]*?\*\/|'(?:[^']|'')*'|"(?:[^"]|"")*"|\$?\w+|::|[^\w\s]/gu;
const spare = [
  ...["'", '"', '(', ')', '[', ']', '{', '}', ',', ';', '.', '*', '=', ':=', '=>', '->', '::', '?', '$1', '$a', '$$'],
  ...['-- x\n', '/* ( */', '/*', '\n', '\u00a0', 'é', '😀', ' "q ""r" ', " 'it''s' ", ' 1 ', ' NULL ', ' DEFAULT '],
  ...[' AND ', ' WHERE true ', ' FROM trades ', ' RETURNING * ', ' ON CONFLICT DO NOTHING ', ' WITH c AS (SELECT 1) '],
  ...[' rowid ', ' SELECT ', ' (SELECT 1) ', ' AS x ', ' IN ', ' CASE WHEN 1 THEN 2 END ', ' EXPLAIN ', ' DESCRIBE '],
  ...[
    " tsdb.query('select 1') ",
    ' tsdb.trades ',
    ' duckdb_views ',
    ' pg_get_viewdef(1) ',
    ' NOT NULL ',
    ' CHECK (a > 0) ',
  ],
  ...[
    " ENUM('a')[] ",
    '::mood',
    '::money',
    ' ::INT[] ',
    ' twice(1) ',
    ' more(a, by := 2) ',
    ' numbers(3) ',
    " mood 'ok' ",
  ],
  ...[
    ' found(price) ',
    ' mapped(price) ',
    ' PIVOT trades ON x ',
    ' USING sum(y) ',
    ' UNION ALL FROM trades ',
    ' merge_action ',
  ],
];

function changed(corpus: readonly string[]): string {
  let parts = [...(pick(corpus).match(token) ?? [])];
  for (let times = random(4); times > 0 && parts.length > 0; times--) {
    const at = random(parts.length);
    const other = random(parts.length);
    switch (random(10)) {
      case 0:
        [parts[at], parts[other]] = [parts[other] ?? '', parts[at] ?? ''];
        break;
      case 1:
        parts.splice(at, 1 + random(3));
        break;
      case 2:
        parts.splice(at, 0, ...parts.slice(other, other + 1 + random(4)));
        break;
      case 3:
      case 4:
      case 5:
        parts.splice(at, 0, pick(spare));
        break;
      case 6: {
        const from = pick(corpus).match(token) ?? [];
        const start = random(from.length + 1);
        parts.splice(at, random(4), ...from.slice(start, start + 1 + random(12)));
        break;
      }
      case 7:
        parts = [
          ...parts.slice(0, at),
          ' (',
          ...parts.slice(at, at + 1 + random(6)),
          ') ',
          ...parts.slice(at + 1 + random(6)),
        ];
        break;
      case 8:
        parts[at] = `${pick(['twice', 'counted', 'mapped', 'found', 'more', 'pair', 'numbers'])}(${parts[at]})`;
        break;
      default: {
        const second = pick(corpus);
        parts.push(...(pick([';', ' UNION ', ' ', ', ', ' AS ']).match(token) ?? []), ...(second.match(token) ?? []));
      }
    }
  }
  const text = parts.join('');
  return (
    pick([
      '',
      '',
      '',
      '',
      'EXPLAIN ',
      'CREATE TABLE n AS ',
      'CREATE VIEW v AS ',
      'INSERT INTO trades ',
      'CREATE MACRO m(price) AS TABLE ',
    ]) + text
  );
}

/** Where each part of the query's text stands in the caller's: the places at which that changes. */
function places(query: Query): readonly (readonly [number, number | null])[] {
  const { sql, pieces = [] } = query;
  const found: [number, number | null][] = [];
  let expected: number | null = -1;
  for (let at = 0; at <= sql.length; at++) {
    const place = placeIn(pieces, at) ?? null;
    if (at === 0 || place !== expected) found.push([at, place]);
    expected = place === null ? null : place + 1;
  }
  return found;
}

/** Without the form in which a query keeps its edits, and with the keys in order. */
function plain(_: string, value: unknown): unknown {
  if (value instanceof Set || value instanceof Map) return [...value];
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const all = 'sql' in value && 'parameterCount' in value ? plainQuery(value as Query) : value;
  const isReference = 'start' in all && 'end' in all && 'table' in all;
  if (isReference) return { ...all, table: tableText(all.table as TableName) };
  return Object.fromEntries(Object.entries(all).sort(([a], [b]) => (a < b ? -1 : 1)));
}

function plainQuery(query: Query): object {
  const { pieces: _, parameterCount, rowIds, viewTextEdits, live, ...rest } = query;
  return {
    ...rest,
    parameters: parameterCount,
    places: places(query),
    rowIds: rowIds && (rowIds.edits === undefined ? 'copies' : editedText(query.sql, rowIds.edits).sql),
    texts: viewTextEdits && editedText(query.sql, viewTextEdits).sql,
    reads: live?.reads,
    liveText: live && editedText(query.sql, live.edits).sql,
  };
}

async function verdict(sql: string, named: readonly Definition[]): Promise<string> {
  try {
    return JSON.stringify(await analyzeSql(connection, sql, named), plain);
  } catch (error) {
    if (!(error instanceof AppError)) return `THROWN ${String(error).slice(0, 300)}`;
    const { code, message, position, hint } = error;
    return JSON.stringify({ code, message, position, hint });
  }
}

const connection = new Session({
  threads: 1,
  memoryBytes: 1e9,
  tempDirectory: join(tmpdir(), 'framehold-gate-verdicts'),
  maxTempBytes: 1e9,
}).connect();
const output = file === undefined ? undefined : createWriteStream(file);
const corpus = seeds();
const total = Number(countText);
const counts = { passed: 0, refused: 0, thrown: 0 };
let hash = createHash('sha256');
console.log(`${corpus.length} statements of tests`);
for (let number = 0; number < total; number++) {
  const sql = number < corpus.length ? (corpus[number] ?? '') : changed(corpus);
  const found = await verdict(sql, random(2) === 0 ? definitions : []);
  counts[found.startsWith('THROWN') ? 'thrown' : found.startsWith('{"code"') ? 'refused' : 'passed']++;
  hash.update(found);
  output?.write(`${JSON.stringify(sql)}\t${found}\n`);
  if (number % 1000 !== 999) continue;
  console.log(number + 1, hash.digest('hex').slice(0, 16));
  hash = createHash('sha256');
}
output?.end();
console.log(JSON.stringify(counts));
connection[Symbol.dispose]();
