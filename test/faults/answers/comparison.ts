import { writeFile } from 'node:fs/promises';
import { FlightClient, ipcOf } from '../../support/flight-client.ts';
import { ask } from '../../support/http-client.ts';
import type { Address } from '../harness/doors.ts';
import type { Random } from '../harness/random.ts';
import { promised } from '../harness/scenario.ts';
import { rowsBySql } from '../harness/sql-change.ts';
import { arrowBytes } from './arrow-bytes.ts';
import type { ColumnCase, Question } from './column-case.ts';
import { sql } from './put-doors.ts';
import { type Found, inOneStatement, type Reference } from './reference.ts';
import { rowsOf, type TableCase } from './table-case.ts';

export interface Difference {
  readonly seed: number;
  readonly type: string;
  readonly state: string;
  readonly frame: string;
  readonly asked: string;
  readonly expected: unknown;
  readonly found: unknown;
}

/** A frame with the rows of a table, or of some of its columns. */
export interface Frame {
  readonly name: string;
  readonly table: TableCase;
  /** The table of the reference that has its rows: that of a file of DuckDB, which has changed some itself, is one of its own. */
  readonly meant: string;
  readonly columns: readonly ColumnCase[];
}

const mostInStatement = 30;
const mostShown = 30;

/** What one server answers about its frames, against the same rows in memory. */
export class Comparison {
  readonly differences: Difference[] = [];
  asked = 0;
  readonly #reference: Reference;
  readonly #random: Random;
  /** By table of the reference. */
  readonly #answers = new Map<string, Map<Question, Found>>();
  /** By table: what its rows are at each door. */
  readonly #sources = new Map<string, Promise<Texts>>();

  readonly #doubted: {
    readonly column: ColumnCase;
    readonly state: string;
    readonly frame: string;
    readonly asked: string;
    /** SQL for what is meant. */
    readonly values: string;
    readonly shown: readonly string[];
  }[] = [];

  constructor(reference: Reference, random: Random) {
    this.#reference = reference;
    this.#random = random;
  }

  /** Asks of each column some of its questions, and what its values are as text. */
  async ask(server: Address, state: string, frames: readonly Frame[], share = 0.3): Promise<void> {
    const statements: (() => Promise<void>)[] = [];
    for (const frame of frames) {
      const asked = frame.columns.flatMap((column) =>
        column.questions.filter(() => this.#random.chance(share)).map((question) => ({ column, question })),
      );
      await this.#answer(frame.meant, asked);
      for (let at = 0; at < asked.length; at += mostInStatement) {
        const some = asked.slice(at, at + mostInStatement);
        statements.push(() => this.#askSome(server, state, frame, some));
      }
      const hashes = await this.#reference.rows(`${hashesOf(frame.columns)} ${frame.meant}`);
      statements.push(() => this.#compareTexts(server, state, frame, hashes[0] ?? []));
    }
    await inLanes(statements);
    for (const { column, state: of, frame, asked, values, shown } of this.#doubted.splice(0)) {
      this.#compareColumn(of, frame, column, asked, (await this.#reference.rows(values)).flat(), shown);
    }
  }

  /** Compares the values bit by bit, as each door gives them. */
  async readAtDoors(server: Address, state: string, frames: readonly Frame[]): Promise<void> {
    using flight = new FlightClient(server.grpcPort);
    await inLanes(frames.map((frame) => () => this.#readAtDoors(server, flight, state, frame)));
  }

  async #readAtDoors(server: Address, flight: FlightClient, state: string, frame: Frame): Promise<void> {
    const { name, table } = frame;
    const source = await this.#source(server, table);
    const get = async (path: string): Promise<Buffer> => {
      const { status, body, text } = await ask(`${server.url}${path}`);
      promised(status === 200, `${name} can be read`, text.slice(0, 600));
      return body;
    };
    const arrow = new Map([
      ['/exp arrow', await get(`/exp?handle=${name}&fmt=arrow`)],
      ['DoGet', ipcOf((await flight.get(name)).messages)],
    ]);
    if (!table.isDeclared) arrow.set('/sql arrow', (await sql(server, `SELECT * FROM ${name}`, 'arrow')).body);
    for (const [door, stream] of arrow) this.#compare(state, frame, door, source.arrow, arrowBytes(stream));
    const parquet = await this.#inParquet(await get(`/exp?handle=${name}&fmt=parquet`), frame);
    this.#compare(state, frame, '/exp parquet', source.parquet, parquet);
    // They tell no column: what is known to be wrong would be told again.
    if (this.differences.some((difference) => difference.state === state && difference.frame === name)) return;
    const cols = ['i', 'm', ...frame.columns.map((column) => column.name)].join(',');
    const csv = (await get(`/exp?handle=${name}&fmt=csv&cols=${cols}`)).toString();
    this.#compareWhole(state, frame, '/exp csv', source.csv, csv);
    const json = datasetOf((await get(`/exec?handle=${name}&fmt=json&cols=${cols}`)).toString());
    this.#compareWhole(state, frame, '/exec json', source.json, json);
  }

  note(column: ColumnCase, difference: Omit<Difference, 'seed' | 'type'>): void {
    this.differences.push({ seed: column.seed, type: column.kind.type, ...difference });
  }

  /** Fails where anything was different: tells the first of each type and state. */
  check(): void {
    const count = this.differences.length;
    if (count === 0) return;
    const shown = new Map(this.differences.toReversed().map((each) => [`${each.type} ${each.state}`, each] as const));
    const lines = [...shown.values()]
      .slice(-mostShown)
      .map(({ seed, type, state, frame, asked, expected, found }) =>
        [`column ${seed}`, type, state, frame, asked, `expected ${expected}`, `found ${found}`]
          .join(' | ')
          .slice(0, 700),
      );
    throw new Error([`${count} of ${this.asked} answers are wrong:`, ...lines.reverse()].join('\n  '));
  }

  /** Of the reference, which runs one statement at a time. */
  async #answer(meant: string, asked: readonly Asked[]): Promise<void> {
    const answers = this.#answers.get(meant) ?? new Map<Question, Found>();
    this.#answers.set(meant, answers);
    const unknown = asked.map(({ question }) => question).filter((question) => !answers.has(question));
    if (unknown.length === 0) return;
    const found = await this.#reference.answers(meant, unknown);
    for (const [at, question] of unknown.entries()) answers.set(question, found[at] as Found);
  }

  async #askSome(server: Address, state: string, frame: Frame, asked: readonly Asked[]): Promise<void> {
    const { name } = frame;
    const questions = asked.map(({ question }) => question);
    const answer = await sql(server, inOneStatement(name, questions));
    if (answer.status !== 200) {
      const [only, ...others] = asked;
      if (others.length > 0) for (const one of asked) await this.#askSome(server, state, frame, [one]);
      else if (only !== undefined) {
        const { error } = answer.json();
        this.note(only.column, { state, frame: name, asked: only.question.text, expected: 'an answer', found: error });
      }
      return;
    }
    const rows = answer.json().dataset as Found[];
    this.asked += rows.length;
    for (const [at, { column, question }] of asked.entries()) {
      const [expected, found] = [this.#answers.get(frame.meant)?.get(question), rows[at]].map(String);
      if (found !== expected) this.note(column, { state, frame: name, asked: question.text, expected, found });
    }
  }

  async #compareTexts(server: Address, state: string, frame: Frame, expected: readonly unknown[]): Promise<void> {
    const [found = []] = await rowsBySql<string[]>(server, `${hashesOf(frame.columns)} ${frame.name}`);
    this.asked += found.length;
    for (const [index, column] of frame.columns.entries()) {
      if (found[index] === expected[index]) continue;
      const values = (of: string): string =>
        `SELECT coalesce(${column.name}::VARCHAR, 'null') AS v FROM ${of} ORDER BY i`;
      const shown = (await rowsBySql<string[]>(server, values(frame.name))).flat();
      const text = { state, frame: frame.name, asked: 'the values' };
      this.#doubted.push({ column, ...text, values: values(frame.meant), shown });
    }
  }

  #compare(
    state: string,
    frame: Frame,
    door: string,
    expected: ReadonlyMap<string, readonly unknown[]>,
    found: ReadonlyMap<string, readonly unknown[]>,
  ): void {
    for (const column of frame.columns) {
      const [meant = [], shown = []] = [expected.get(column.name), found.get(column.name)];
      this.asked++;
      this.#compareColumn(state, frame.name, column, door, meant, shown);
    }
  }

  #compareColumn(
    state: string,
    frame: string,
    column: ColumnCase,
    asked: string,
    meant: readonly unknown[],
    shown: readonly unknown[],
  ): void {
    const row = meant.findIndex((value, at) => value !== shown[at]);
    if (row < 0 && meant.length === shown.length) return;
    const [expected, found] = [meant[row], shown[row]];
    this.note(column, { state, frame, asked: `${asked}, row ${row}`, expected, found });
  }

  #compareWhole(state: string, { name, columns }: Frame, door: string, expected: string, found: string): void {
    this.asked++;
    if (found === expected) return;
    let at = 0;
    while (found[at] === expected[at]) at++;
    const around = (text: string): string => JSON.stringify(text.slice(Math.max(0, at - 60), at + 60));
    const [first] = columns;
    if (first === undefined) return;
    const shown = { expected: around(expected), found: around(found) };
    this.note(first, { state, frame: name, asked: `${door}, all columns, character ${at}`, ...shown });
  }

  #source(server: Address, table: TableCase): Promise<Texts> {
    const known = this.#sources.get(table.name);
    if (known !== undefined) return known;
    const texts = this.#textsOf(server, table);
    this.#sources.set(table.name, texts);
    return texts;
  }

  /** The rows as each door gives those of a statement, which are in no file. */
  async #textsOf(server: Address, table: TableCase): Promise<Texts> {
    const rows = rowsOf(table, { asKept: true });
    const get = async (format: string): Promise<Buffer> => {
      const { status, body, text } = await sql(server, rows, format);
      promised(status === 200, 'the rows of a statement can be read', text.slice(-600));
      return body;
    };
    return {
      arrow: arrowBytes(await get('arrow')),
      parquet: await this.#columnsOf(`(${rows})`, table.columns),
      csv: (await get('csv')).toString(),
      json: datasetOf((await get('json')).toString()),
    };
  }

  async #inParquet(file: Buffer, { name, columns }: Frame): Promise<Map<string, unknown[]>> {
    const path = `${this.#reference.folder}/${name}.parquet`;
    await writeFile(path, file);
    return this.#columnsOf(`read_parquet('${path}')`, columns);
  }

  async #columnsOf(relation: string, columns: readonly ColumnCase[]): Promise<Map<string, unknown[]>> {
    const texts = columns.map(({ name }) => `${name}::VARCHAR AS ${name}`).join(', ');
    const rows = await this.#reference.rows(`SELECT ${texts} FROM ${relation} ORDER BY i`);
    return new Map(columns.map(({ name }, index) => [name, rows.map((row) => row[index])]));
  }
}

interface Asked {
  readonly column: ColumnCase;
  readonly question: Question;
}

interface Texts {
  readonly arrow: ReadonlyMap<string, readonly string[]>;
  /** As text of SQL. */
  readonly parquet: ReadonlyMap<string, readonly unknown[]>;
  readonly csv: string;
  readonly json: string;
}

/** A hash for each column of all its values as text, without the frame that they are of. */
export function hashesOf(columns: readonly ColumnCase[]): string {
  const hash = ({ name }: ColumnCase): string =>
    `md5(string_agg(coalesce(${name}::VARCHAR, 'null'), chr(31) ORDER BY i)) AS ${name}`;
  return `SELECT ${columns.map(hash).join(', ')} FROM`;
}

/** As many at once as the server has processes for SQL. */
export async function inLanes(tasks: readonly (() => Promise<void>)[]): Promise<void> {
  const left = [...tasks];
  const lane = async (): Promise<void> => {
    for (let task = left.shift(); task !== undefined; task = left.shift()) await task();
  };
  await Promise.all([lane(), lane()]);
}

function datasetOf(json: string): string {
  return json.slice(json.indexOf('"dataset":['), json.lastIndexOf('"count":'));
}
