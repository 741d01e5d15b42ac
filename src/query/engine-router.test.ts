import { beforeEach, describe, expect, test } from 'vitest';
import { anonymous } from '../auth/identify.ts';
import { AppError } from '../core/errors/app-error.ts';
import type { SqlDescription, SqlEngine, SqlJob, SqlResult, Statement } from '../core/sql/sql.ts';
import type { Frames } from '../frames/frames.ts';
import { AutoEngine } from './auto-engine.ts';
import { EngineRouter } from './engine-router.ts';
import type { CallOptions, SqlText } from './frame-sql.ts';
import { RunningQueries } from './running-queries.ts';
import { FrameStatements } from './statements/frame-statements.ts';

const options = { signal: new AbortController().signal, requestId: 'r' };
const frameBytes = { small: 10, big: 1000 };

/** Accepts texts that begin with `local`, `second` or `any`, and records its calls. */
class NotingEngine implements SqlEngine {
  readonly asked: string[] = [];
  readonly jobs: SqlJob[] = [];
  readonly statements: Statement[] = [];
  readonly #name: string;
  isBlocked = false;

  constructor(name: string) {
    this.#name = name;
  }

  async analyze(sql: string, { signal }: { signal: AbortSignal }): Promise<Statement> {
    this.asked.push('analyze');
    if (this.isBlocked) await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    const [taker = '', verb, name = 'none'] = sql.split(' ');
    if (taker !== 'any' && taker !== this.#name) throw new AppError('sql_error', `${this.#name} does not take it`);
    const table = { catalog: undefined, schema: undefined, name };
    const uses = verb === 'macro' && ({ usesDefinitions: true } as const);
    const query = { sql, tables: name in frameBytes ? [table] : [], parameterCount: 0, ...uses };
    const statement: Statement =
      verb === 'create' ? { kind: 'createTable', table, ifTaken: 'replace', query } : { kind: 'query', query };
    this.statements.push(statement);
    return statement;
  }

  async describe(job: SqlJob): Promise<SqlDescription> {
    this.#note('describe', job);
    return { columns: [], parameters: [] };
  }

  async run(job: SqlJob): Promise<SqlResult> {
    this.#note('run', job);
    async function* nothing() {}
    return { columns: [], totalRows: 0, rows: nothing, arrowStream: nothing, [Symbol.asyncDispose]: async () => {} };
  }

  async analyticsTables() {
    return [];
  }

  #note(method: string, job: SqlJob): void {
    this.asked.push(method);
    this.jobs.push(job);
  }
}

let local: NotingEngine;
let second: NotingEngine;
let running: RunningQueries;
let router: EngineRouter;
/** Awaited by each put. */
let putting: (options: CallOptions) => Promise<void>;

beforeEach(() => {
  putting = async () => {};
  local = new NotingEngine('local');
  second = new NotingEngine('second');
  running = new RunningQueries();
  const reader = { columns: [], parts: [], sources: async () => [], [Symbol.asyncDispose]: async () => {} };
  const frames = {
    assertMayWrite() {},
    open: async () => reader,
    describe: async (_: unknown, name: keyof typeof frameBytes) => ({ state: 'held', bytes: frameBytes[name] }),
    list: async function* () {},
    put: async (_: unknown, __: unknown, call: CallOptions) => {
      await putting(call);
      return { rows: 0 };
    },
    definitions: async () => [],
    refusePut: async () => {},
  } as unknown as Frames;
  router = new EngineRouter({
    local: new FrameStatements({ engine: local, frames }),
    clusters: new Map([['second', new FrameStatements({ engine: second, frames })]]),
    auto: new AutoEngine({ frames, local, cluster: { name: 'second', sql: second }, thresholdBytes: 100 }),
    running,
    timeoutMs: 30,
  });
});

async function analyse(text: SqlText) {
  return await router.analyze(anonymous, await router.choose(anonymous, text, options), options);
}

describe('a statement', () => {
  test('is analysed once, however often it is described and run', async () => {
    const statement = await analyse({ sql: 'any query small' });
    await router.prepare(anonymous, statement, options);
    await router.boundColumns(anonymous, { statement, parameters: new Uint8Array(1) }, options);
    for (let n = 0; n < 3; n++) await router.query(anonymous, { statement, form: 'arrow' }, options);
    await router.keep(anonymous, { statement }, { handle: undefined, mode: 'create' }, options);
    expect(local.asked).toEqual(['analyze', 'describe', 'describe', 'run', 'run', 'run', 'run']);
    const [analysed] = local.statements;
    for (const { query } of local.jobs) expect(query).toBe(analysed?.kind === 'query' && analysed.query);
  });

  test('that changes frames is analysed once', async () => {
    const statement = await analyse({ sql: 'any create copied' });
    await router.prepare(anonymous, statement, options);
    await router.update(anonymous, { statement }, options);
    expect(local.asked).toEqual(['analyze', 'describe', 'run']);
  });

  test('runs on the engine that analysed it', async () => {
    const statement = await analyse({ sql: 'any query', engine: 'second' });
    await router.query(anonymous, { statement, form: 'arrow' }, options);
    expect([local.asked, second.asked]).toEqual([[], ['analyze', 'run']]);
  });

  test('is listed and can be cancelled while it is analysed', async () => {
    local.isBlocked = true;
    const analysed = analyse({ sql: 'any query' });
    await expect.poll(() => running.list(anonymous)).toMatchObject([{ id: 'r', sql: 'any query', engine: 'local' }]);
    running.cancel(anonymous, 'r');
    await expect(analysed).rejects.toMatchObject({ code: 'sql_cancelled' });
    expect(running.list(anonymous)).toEqual([]);
  });
});

describe('a statement that writes', () => {
  const aborted = ({ signal }: CallOptions) =>
    new Promise<void>((_, reject) => {
      if (signal.aborted) reject(signal.reason);
      signal.addEventListener('abort', () => reject(signal.reason));
    });

  test('has one time for all of its work, and fails with it', async () => {
    putting = aborted;
    const statement = await analyse({ sql: 'local create copied' });
    const failure = { code: 'sql_timeout', message: 'the work took longer than 0.03 s' };
    await expect(router.update(anonymous, { statement }, options)).rejects.toMatchObject(failure);
    const query = { statement: await analyse({ sql: 'local query small' }) };
    const keep = { handle: undefined, mode: 'create' } as const;
    await expect(router.keep(anonymous, query, keep, options)).rejects.toMatchObject(failure);
    expect(running.list(anonymous)).toEqual([]);
  });

  test('is not charged with what it waits for', async () => {
    putting = async ({ costs, signal }) => {
      await costs?.waiting(() => new Promise((resolve) => setTimeout(resolve, 60)));
      signal.throwIfAborted();
    };
    const statement = await analyse({ sql: 'local create copied' });
    expect(await router.update(anonymous, { statement }, options)).toMatchObject({ hasChanged: true });
  });

  test('has the limits of its engine elsewhere', async () => {
    putting = async ({ signal }) => {
      await new Promise((resolve) => setTimeout(resolve, 60));
      signal.throwIfAborted();
    };
    const statement = await analyse({ sql: 'second create copied', engine: 'second' });
    expect(await router.update(anonymous, { statement }, options)).toMatchObject({ hasChanged: true });
  });
});

test('a cancel that comes as the analysis ends is not lost', async () => {
  const { analyze } = local;
  local.analyze = async (...given) => {
    const statement = await analyze.apply(local, given);
    running.cancel(anonymous, 'r');
    return statement;
  };
  await expect(analyse({ sql: 'any query' })).rejects.toMatchObject({ code: 'sql_cancelled' });
});

describe('engine=auto', () => {
  test.each([
    ['a small statement', 'any query small', 'local', ['analyze'], []],
    ['a large one with a macro', 'any macro big', 'local', ['analyze'], []],
    ['a large one', 'any query big', 'second', ['analyze'], ['analyze']],
    ['a large one that only local takes', 'local query big', 'local', ['analyze'], ['analyze']],
    ['one that only the cluster takes', 'second query big', 'second', ['analyze'], ['analyze']],
  ])('analyses %s at most once on each engine', async (_, sql, engine, byLocal, bySecond) => {
    const statement = await analyse({ sql, engine: 'auto' });
    expect(statement).toMatchObject({ kind: 'query', sql, engine });
    expect([local.asked, second.asked]).toEqual([byLocal, bySecond]);
  });

  test('chooses also where a text comes with no choice, as in a ticket', async () => {
    const statement = await router.analyze(anonymous, { sql: 'any query big', engine: 'auto' }, options);
    expect(statement.engine).toBe('second');
  });
});

test('an engine that is not known is refused before anything is analysed', async () => {
  const text = { sql: 'any query', engine: 'secnod' };
  for (const refused of [router.choose(anonymous, text, options), router.analyze(anonymous, text, options)]) {
    await expect(refused).rejects.toMatchObject({ code: 'invalid_parameter' });
  }
  expect(local.asked).toEqual([]);
});
