import { copyFileSync, linkSync, mkdirSync, readdirSync, readlinkSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { landlockVersion } from '@framehold/duckdb';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { AccessRecords } from '../../src/auth/access-records.ts';
import { Cleanup } from '../../src/core/async/cleanup.ts';
import type { Tenant } from '../../src/core/callers/principal.ts';
import { DurableFiles } from '../../src/frames/disk/durable-file.ts';
import { eventually } from '../support/frame-store.ts';
import { type Answer, ask } from '../support/http-client.ts';
import { childrenOf, commandOf } from '../support/process-facts.ts';
import { type SpawnedFramehold, spawnFramehold } from '../support/spawned-framehold.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { ungatedMark } from '../support/ungated-analyze.ts';
import { buildWithout, type Wall } from '../support/ungated-build.ts';

const secret = 'for-alice-alone';
const limits = { maxBytes: undefined, maxFrames: undefined, maxStatements: undefined, maxRate: undefined, engines: [] };
const hasLandlock = landlockVersion() > 0;

/** A server whose workers have no gate, with tenants alice and bob who both have a frame `t`. */
class Lab implements AsyncDisposable {
  readonly server: SpawnedFramehold;
  readonly dataDir: string;
  readonly #tokens: ReadonlyMap<string, string>;
  readonly #cleanup: Cleanup;

  private constructor(
    server: SpawnedFramehold,
    dataDir: string,
    tokens: ReadonlyMap<string, string>,
    cleanup: Cleanup,
  ) {
    this.server = server;
    this.dataDir = dataDir;
    this.#tokens = tokens;
    this.#cleanup = cleanup;
  }

  static async open(walls: readonly Wall[], workers: number): Promise<Lab> {
    const cleanup = new Cleanup();
    try {
      const { path: build } = cleanup.use(await buildWithout(walls));
      const { path: dataDir } = cleanup.use(await temporaryDirectory());
      mkdirSync(join(dataDir, 'cold'));
      using records = await AccessRecords.open(join(dataDir, 'cold'), new DurableFiles());
      const tokens = new Map<string, string>();
      for (const tenant of ['alice', 'bob', 'default'] as Tenant[]) {
        if (tenant !== 'default') await records.createTenant(tenant, limits);
        const token = { name: tenant, role: 'admin', tenant, prefix: undefined, expiresAt: undefined } as const;
        tokens.set(tenant, (await records.createToken(token)).token);
      }
      const flags = ['--auth-enabled', '--sql-workers', String(workers)];
      const server = cleanup.use(await spawnFramehold({ dataDir, program: join(build, 'main.js'), flags }));
      const lab = new Lab(server, dataDir, tokens, cleanup);
      for (const [tenant, text] of [
        ['alice', secret],
        ['bob', 'for-bob'],
        ['default', 'for-default'],
      ] as const)
        await lab.as(tenant, 'POST', '/imp?name=t', `text\n${text}\n`);
      return lab;
    } catch (error) {
      await cleanup[Symbol.asyncDispose]();
      throw error;
    }
  }

  as(tenant: string, method: string, path: string, body: string): Promise<Answer> {
    const headers = { authorization: `Bearer ${this.#tokens.get(tenant)}` };
    return ask(`${this.server.url}${path}`, { method, headers, body });
  }

  sql(tenant: string, sql: string): Promise<Answer> {
    return this.as(tenant, 'POST', '/sql', JSON.stringify({ sql, format: 'ndjson' }));
  }

  /** What DuckDB itself says to it. */
  ungated(tenant: string, sql: string): Promise<Answer> {
    return this.sql(tenant, `${ungatedMark}${sql}`);
  }

  /** Of those that run SQL. */
  get workers(): readonly { readonly pid: number; readonly settings: string }[] {
    const all = childrenOf(this.server.pid).map((pid) => ({ pid, settings: commandOf(pid) }));
    return all.filter(({ settings }) => settings.includes('"isConfined":true'));
  }

  get coldDirectory(): string {
    return join(this.dataDir, 'cold');
  }

  get warmDirectory(): string {
    const root = join(this.dataDir, 'warm');
    return join(root, readdirSync(root)[0] ?? '');
  }

  /** Where a tenant's process finds its files. */
  linksOf(tenant: string): string {
    const pins = join(this.coldDirectory, 'tenants', tenant, '.framehold', 'pins');
    return join(pins, readdirSync(pins)[0] ?? '');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#cleanup[Symbol.asyncDispose]();
  }
}

/** Files that hold alice's rows, in every place where the server keeps some. */
async function placesOf(lab: Lab): Promise<Readonly<Record<string, string>>> {
  const file = join(lab.coldDirectory, 'tenants', 'alice', 't.parquet');
  const link = join(lab.linksOf('alice'), 'open.parquet');
  linkSync(file, link);
  const warm = lab.warmDirectory;
  await eventually(async () => readdirSync(join(warm, 'alice')).length === 1, 15_000);
  const copy = join(warm, 'alice', readdirSync(join(warm, 'alice'))[0] ?? '');
  const worker = lab.workers.find(({ settings }) => settings.includes(join(warm, 'alice')));
  const spill = /"tempDirectory":"([^"]+)"/.exec(worker?.settings ?? '')?.[1] ?? '';
  mkdirSync(spill, { recursive: true });
  copyFileSync(file, join(spill, 'rows.parquet'));
  return { file, link, copy, spill: join(spill, 'rows.parquet') };
}

const withoutWalls: readonly (readonly Wall[])[] = [
  ['gate'],
  ['gate', 'kernel rules'],
  ...(hasLandlock ? [['gate', 'DuckDB’s lock'] as const] : []),
];

describe.each(withoutWalls.map((walls) => ({ walls, named: walls.join(' and ') })))('without $named', ({ walls }) => {
  let lab: Lab;
  let places: Readonly<Record<string, string>>;
  beforeAll(async () => {
    lab = await Lab.open(walls, 2);
    for (let n = 0; n < 3; n++) expect((await lab.sql('alice', 'SELECT text FROM t')).text).toContain(secret);
    expect((await lab.sql('bob', 'SELECT text FROM t')).text).toContain('for-bob');
    places = await placesOf(lab);
  });
  afterAll(() => lab[Symbol.asyncDispose]());

  async function expectNothing(sql: string): Promise<void> {
    const answer = await lab.ungated('bob', sql);
    expect(answer.text).not.toContain(secret);
    expect([answer.status, answer.text], sql).not.toEqual([200, expect.stringMatching(/\S/)]);
  }

  test('the statements that follow are run as they are', async () => {
    const answer = await lab.ungated('bob', 'SELECT count(*) > 10 AS many FROM duckdb_settings()');
    expect(answer.text).toContain('true');
    expect((await lab.ungated('bob', "SELECT * FROM read_text('/etc/hostname')")).text).not.toContain('GATE');
  });

  test.each(['file', 'link', 'copy', 'spill'])('a tenant does not read the other’s %s by its path', async (place) => {
    const path = places[place];
    await expectNothing(`SELECT * FROM read_parquet('${path}')`);
    await expectNothing(`SELECT content FROM read_blob('${path}')`);
    await expectNothing(`SELECT * FROM '${path}'`);
    await expectNothing(`ATTACH '${path}' AS stolen (READ_ONLY)`);
  });

  test('a tenant finds no name outside of its own folders', async () => {
    for (const pattern of [
      '/*',
      `${lab.dataDir}/**`,
      `${lab.coldDirectory}/**/*.parquet`,
      `${lab.coldDirectory}/tenants/*`,
      `${lab.linksOf('alice')}/*`,
      `${lab.coldDirectory}/../cold/tenants/alice/*`,
    ])
      await expectNothing(`SELECT * FROM glob('${pattern}')`);
  });

  test('a tenant finds no view and no database of the other', async () => {
    const views = await lab.ungated('bob', "SELECT sql FROM duckdb_views() WHERE schema_name = 'frames'");
    expect(views.text).not.toContain('alice');
    const databases = await lab.ungated('bob', 'SELECT path FROM duckdb_databases()');
    expect(databases.text).not.toContain('alice');
    const own = await lab.ungated('bob', 'SELECT text FROM framehold.frames.t');
    expect(own.text).not.toContain(secret);
  });

  test('a tenant reads no tokens, no settings of processes and nothing of the system', async () => {
    const tokens = join(lab.coldDirectory, '.framehold', 'access', 'tokens');
    const paths = readdirSync(tokens).map((name) => join(tokens, name));
    const pids = ['self', String(lab.server.pid), ...lab.workers.map(({ pid }) => String(pid))];
    for (const pid of pids) paths.push(`/proc/${pid}/environ`, `/proc/${pid}/cmdline`, `/proc/${pid}/maps`);
    for (const path of [...paths, '/etc/hostname', '/etc/passwd', join(lab.dataDir, 'analytics.duckdb')])
      await expectNothing(`SELECT content FROM read_blob('${path}')`);
    await expectNothing(`ATTACH '${join(lab.dataDir, 'analytics.duckdb')}' AS stolen (READ_ONLY)`);
    await expectNothing('SELECT * FROM analytics.information_schema.tables');
  });

  test('a tenant reads nothing through the files that processes have open', async () => {
    for (const { pid } of [{ pid: lab.server.pid }, ...lab.workers]) {
      for (const number of readdirSync(`/proc/${pid}/fd`)) {
        const path = readlink(`/proc/${pid}/fd/${number}`);
        // Who reads from a pipe takes from who should.
        if (!path.startsWith('/') || path.includes('/tenants/bob/')) continue;
        await expectNothing(`SELECT content FROM read_blob('/proc/${pid}/fd/${number}')`);
      }
    }
  });

  test('a tenant cannot change what its process may read, nor write anywhere', async () => {
    await expectNothing(`SET allowed_directories = ['/']`);
    await expectNothing('SET enable_external_access = true');
    await expectNothing('RESET lock_configuration');
    await expectNothing(`COPY (SELECT 1) TO '${lab.linksOf('alice')}/made.parquet'`);
    await expectNothing(`COPY (SELECT 1) TO '${lab.coldDirectory}/made.parquet'`);
    await expectNothing("COPY (SELECT 1) TO '/tmp/framehold-made.parquet'");
  });

  test('the log warns where the kernel confines no process', () => {
    const isWarned = lab.server.stderr().includes('this kernel has no Landlock');
    expect(isWarned).toBe(!hasLandlock || walls.includes('kernel rules'));
  });

  // DuckDB goes by names alone.
  if (hasLandlock && !walls.includes('kernel rules')) {
    test('a symbolic link in its own folder does not lead a tenant out of it', async () => {
      const link = join(lab.linksOf('bob'), 'symbolic.parquet');
      symlinkSync(places.file ?? '', link);
      await expectNothing(`SELECT * FROM read_parquet('${link}')`);
    });
  }
});

describe('one process for two tenants', () => {
  let lab: Lab;
  beforeAll(async () => {
    lab = await Lab.open(['gate'], 1);
  });
  afterAll(() => lab[Symbol.asyncDispose]());

  test('the same handle gives each tenant its own rows, and no process serves both', async () => {
    const owners = new Map<number, string>();
    for (const tenant of ['alice', 'bob', 'alice', 'default', 'bob']) {
      const { text } = await lab.sql(tenant, 'SELECT text FROM t');
      expect(text).toBe(`{"text":"${tenant === 'alice' ? secret : `for-${tenant}`}"}\n`);
      const [worker, ...more] = lab.workers;
      expect(more).toEqual([]);
      const pid = worker?.pid ?? 0;
      expect(owners.get(pid) ?? tenant).toBe(tenant);
      owners.set(pid, tenant);
    }
    expect(owners.size).toBe(5);
  });

  test('the tenant whose folder holds all others’ does not read them either', async () => {
    const file = join(lab.coldDirectory, 'tenants', 'alice', 't.parquet');
    const answer = await lab.ungated('default', `SELECT * FROM read_parquet('${file}')`);
    expect(answer.status).not.toBe(200);
    const own = await lab.ungated('default', `SELECT * FROM read_parquet('${join(lab.coldDirectory, 't.parquet')}')`);
    expect(own.status).not.toBe(200);
  });

  test('a shared frame is read in SQL, and when it is no longer shared nothing of it is left to the reader', async () => {
    const share = '/handles/t/shares/bob';
    expect((await lab.as('alice', 'PUT', share, '')).status).toBeLessThan(300);
    for (let n = 0; n < 3; n++) expect((await lab.sql('bob', 'SELECT text FROM alice.t')).text).toContain(secret);
    const [before] = lab.workers;
    const copies = join(lab.warmDirectory, 'bob');
    await expect.poll(() => readdirSync(copies), { timeout: 15_000 }).not.toEqual([]);
    const taken = readdirSync(copies).map((name) => join(copies, name));
    expect((await lab.as('alice', 'DELETE', share, '')).status).toBeLessThan(300);
    expect((await lab.sql('bob', 'SELECT text FROM alice.t')).text).not.toContain(secret);
    const views = await lab.ungated('bob', 'SELECT sql FROM duckdb_views() WHERE NOT internal');
    expect([views.status, views.text]).toEqual([200, expect.not.stringContaining('alice')]);
    expect((await lab.ungated('bob', 'SELECT text FROM framehold.alice.t')).status).not.toBe(200);
    for (const path of taken) expect((await lab.ungated('bob', `ATTACH '${path}' AS taken`)).status).not.toBe(200);
    expect(lab.workers.map(({ pid }) => pid)).not.toContain(before?.pid);
  });

  test('statements of two tenants at once all get their own rows', async () => {
    const tenants = Array.from({ length: 40 }, (_, n) => (n % 4 === 3 ? 'bob' : 'alice'));
    const answers = await Promise.all(tenants.map((tenant) => lab.sql(tenant, 'SELECT text FROM t')));
    const texts = answers.map(({ text }) => (JSON.parse(text) as { text: string }).text);
    expect(texts).toEqual(tenants.map((tenant) => (tenant === 'alice' ? secret : 'for-bob')));
  });
});

function readlink(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
}
