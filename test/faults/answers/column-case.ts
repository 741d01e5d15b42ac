import { Random } from '../harness/random.ts';
import type { ColumnKind } from './column-kinds.ts';

/** Of every frame. They come in three pieces, and SQL makes them of the number of each. */
export const rowCount = 400;
export const pieces = [
  [0, 200],
  [200, 300],
  [300, rowCount],
] as const;

/** A column of a frame with questions about it, all drawn from its seed. */
export interface ColumnCase {
  readonly seed: number;
  readonly name: string;
  readonly kind: ColumnKind;
  /** SQL over `i`, the number of the row. */
  readonly expression: string;
  readonly questions: readonly Question[];
  /** For statements that change rows. */
  readonly condition: string;
  readonly value: string;
}

/** SQL over a frame that gives one row of two numbers, which tell which rows were found. */
export interface Question {
  readonly text: string;
  readonly sql: (frame: string) => string;
}

const questionsOfEach = 6;

export function columnCase(seed: number, name: string, kind: ColumnKind): ColumnCase {
  const random = new Random(seed);
  const cast = (value: string): string => `(${value})::${kind.type}`;
  const draw = (): string =>
    kind.any !== undefined && random.chance(0.4) ? kind.any(random) : random.pick(kind.values);
  const isUnique = kind.any !== undefined && random.chance(0.25);
  const count = isUnique ? rowCount : random.between(1, 12);
  const values = [
    ...new Set(Array.from({ length: count }, () => (isUnique ? kind.any?.(random) : undefined) ?? draw())),
  ];
  // Side by side in the file or far from each other.
  const index = random.chance(0.5) ? `(i * ${values.length}) // ${rowCount}` : `(i * 7) % ${values.length}`;
  const nulls = random.pick([undefined, undefined, 'i % 5 = 3', 'i < 250']);
  const place = nulls === undefined ? `1 + ${index}` : `CASE WHEN ${nulls} THEN NULL ELSE 1 + ${index} END`;
  const expression = `([${values.join(', ')}]::${kind.type}[])[${place}]`;
  const asked = (): string => cast(random.chance(0.8) ? random.pick(values) : draw());
  const conditions = conditionsOn(name, kind, asked(), asked());
  const questions = [
    where(`${name} = ${asked()}`),
    ...Array.from({ length: questionsOfEach - 1 }, () =>
      kind.hasOnlyEquality || random.chance(0.6)
        ? where(random.pick(conditionsOn(name, kind, asked(), asked())))
        : random.pick(otherQuestions(name, asked())),
    ),
  ];
  return { seed, name, kind, expression, questions, condition: random.pick(conditions), value: asked() };
}

function conditionsOn(c: string, { type, hasOnlyEquality }: ColumnKind, v: string, w: string): string[] {
  if (hasOnlyEquality) return [`${c} = ${v}`, `${c} IS NULL`, `${c} IS NOT NULL`];
  // DuckDB has no BETWEEN for them.
  const isNested = /\[|^(STRUCT|MAP)/.test(type);
  const operators = ['=', '<>', '<', '<=', '>', '>=', 'IS DISTINCT FROM', 'IS NOT DISTINCT FROM'];
  return [
    ...operators.map((operator) => `${c} ${operator} ${v}`),
    `NOT ${c} <= ${v}`,
    `${c} IN (${v}, ${w})`,
    `${c} NOT IN (${v}, ${w})`,
    ...(isNested ? [] : [`${c} BETWEEN ${v} AND ${w}`]),
    `${c} = ${v} OR ${c} > ${w}`,
    `${c} IS NULL`,
    `${c} IS NOT NULL`,
  ];
}

const found = 'count(*) AS n, coalesce(sum(i * i), 0) AS s';

function where(condition: string): Question {
  return { text: condition, sql: (frame) => `SELECT ${found} FROM ${frame} WHERE ${condition}` };
}

function otherQuestions(c: string, v: string): Question[] {
  const question = (text: string, sql: (frame: string) => string): Question => ({ text, sql });
  const key = `(SELECT ${v} AS ${c}) AS k`;
  return [
    question(`JOIN USING ${v}`, (frame) => `SELECT ${found} FROM ${frame} JOIN ${key} USING (${c})`),
    question(`JOIN ON ${v}`, (frame) => `SELECT ${found} FROM ${frame} AS f JOIN ${key} ON f.${c} = k.${c}`),
    question(`IN (SELECT ${v})`, (frame) => `SELECT ${found} FROM ${frame} WHERE ${c} IN (SELECT ${v})`),
    question(
      'JOIN itself',
      (frame) => `SELECT count(*) AS n, sum(a.i * b.i) AS s FROM ${frame} a JOIN ${frame} b USING (${c})`,
    ),
    question(
      'GROUP BY',
      (frame) => `SELECT count(*) AS n, sum(m * m) AS s FROM (SELECT count(*) AS m FROM ${frame} GROUP BY ${c})`,
    ),
    question('DISTINCT', (frame) => `SELECT count(*) AS n, 0 AS s FROM (SELECT DISTINCT ${c} FROM ${frame})`),
    question('ORDER BY', (frame) => `SELECT ${found} FROM (SELECT i FROM ${frame} ORDER BY ${c}, i LIMIT 9)`),
    question('ORDER BY DESC', (frame) => `SELECT ${found} FROM (SELECT i FROM ${frame} ORDER BY ${c} DESC, i LIMIT 9)`),
    question('max', (frame) => `SELECT ${found} FROM ${frame} WHERE ${c} = (SELECT max(${c}) FROM ${frame})`),
    question('min', (frame) => `SELECT ${found} FROM ${frame} WHERE ${c} = (SELECT min(${c}) FROM ${frame})`),
  ];
}
