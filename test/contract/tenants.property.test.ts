import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { noLimits } from '../../src/auth/tenant-record.ts';
import type { Tenant } from '../../src/core/callers/principal.ts';
import { type ClosedServer, startClosedServer } from '../support/closed-server.ts';
import { FlightClient, ipcOf } from '../support/flight-client.ts';
import type { Answer } from '../support/http-client.ts';

const tenants = ['ada', 'bob'] as const;
type Name = (typeof tenants)[number];
const other = { ada: 'bob', bob: 'ada' } as const;

let closed: ClosedServer;
const tokens = new Map<Name, string>();
const flights = new Map<Name, FlightClient>();

beforeAll(async () => {
  closed = await startClosedServer();
  for (const tenant of tenants) {
    await closed.records.createTenant(tenant as string as Tenant, noLimits);
    const { token } = await closed.makeToken('admin', { tenant: tenant as string as Tenant });
    tokens.set(tenant, token);
    flights.set(tenant, new FlightClient(closed.server.grpcAddress.port, { authorization: `Bearer ${token}` }));
  }
  for (const token of tokens.values()) await closed.untilKnown(token);
});

afterAll(async () => {
  for (const flight of flights.values()) flight[Symbol.dispose]();
  await closed[Symbol.asyncDispose]();
});

interface ModelFrame {
  rows: string[];
  isShared: boolean;
}

/** What each tenant should find. Undefined: a handle that is dropped. */
class Model {
  readonly frames: Record<Name, Map<string, ModelFrame | undefined>> = { ada: new Map(), bob: new Map() };

  held(tenant: Name, handle: string): ModelFrame | undefined {
    return this.frames[tenant].get(handle);
  }

  /** The frame that a caller means by a name, if it may see it. */
  seen(caller: Name, { owner, handle }: FrameOf): ModelFrame | undefined {
    const frame = this.held(owner, handle);
    return owner === caller || frame?.isShared === true ? frame : undefined;
  }
}

interface FrameOf {
  readonly owner: Name;
  readonly handle: string;
}

type Step = { readonly caller: Name } & (
  | { readonly kind: 'put' | 'append'; readonly handle: string; readonly rows: number }
  | { readonly kind: 'drop' | 'share' | 'unshare'; readonly handle: string }
  | { readonly kind: 'read' | 'describe' | 'sql' | 'doGet' | 'write'; readonly of: FrameOf }
  | { readonly kind: 'list' | 'showTables' | 'catalogs' | 'queries' }
);

const caller = fc.constantFrom(...tenants);
// The same few for both, so that names of one are names of the other.
const handle = fc.constantFrom('trades', 'quotes', 'Trades', 'x.y');
const of = fc.record({ owner: caller, handle });
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constantFrom('put', 'append'), caller, handle, rows: fc.integer({ min: 1, max: 3 }) }),
  fc.record({ kind: fc.constantFrom('drop', 'share', 'share', 'unshare'), caller, handle }),
  fc.record({ kind: fc.constantFrom('read', 'describe', 'sql', 'doGet', 'write'), caller, of }),
  fc.record({ kind: fc.constantFrom('list', 'showTables', 'catalogs', 'queries'), caller }),
);

/** One run of steps on the server. Its rows are texts that stand nowhere else. */
const catalogSql = `SELECT schema_name || '/' || table_name FROM duckdb_tables()`;

class Run {
  readonly #model = new Model();
  readonly #prefix: string;
  #rows = 0;

  constructor(prefix: string) {
    this.#prefix = prefix;
  }

  async take(given: Step): Promise<void> {
    const { caller: who } = given;
    const answer = await this.#ask(given);
    if (answer === undefined) return;
    // Whatever it is: nothing of the other's that is not shared at this time.
    const hidden = this.#model.frames[other[who]];
    for (const frame of hidden.values()) {
      if (frame === undefined || frame.isShared) continue;
      for (const row of frame.rows) expect(answer, JSON.stringify(given)).not.toContain(row);
    }
  }

  /** Gives all that the caller gets to see. */
  async #ask(given: Step): Promise<string | undefined> {
    switch (given.kind) {
      case 'put':
      case 'append':
        return this.#put(given.caller, given.kind, given.handle, given.rows);
      case 'drop':
      case 'share':
      case 'unshare':
        return this.#change(given.caller, given.kind, given.handle);
      case 'list':
      case 'showTables':
      case 'catalogs':
      case 'queries':
        return this.#list(given.caller, given.kind);
      default:
        return this.#read(given.caller, given.kind, given.of);
    }
  }

  async #put(who: Name, kind: 'put' | 'append', name: string, count: number): Promise<string> {
    const rows = Array.from({ length: count }, () => `${who}-${this.#prefix}-${this.#rows++}`);
    const mode = kind === 'put' ? 'overwrite=true' : 'append=true';
    const answer = await this.#http(who, 'POST', `/imp?name=${this.#handle(name)}&${mode}`, `a\n${rows.join('\n')}\n`);
    expect(answer.status, answer.text).toBe(200);
    const before = this.#model.held(who, name);
    const kept = kind === 'append' ? (before?.rows ?? []) : [];
    this.#model.frames[who].set(name, { rows: [...kept, ...rows], isShared: before?.isShared ?? false });
    return seen(answer);
  }

  async #change(who: Name, kind: 'drop' | 'share' | 'unshare', name: string): Promise<string> {
    const frame = this.#model.held(who, name);
    const path = `/handles/${this.#handle(name)}`;
    const shares = `${path}/shares/${other[who]}`;
    const answer = await (kind === 'drop'
      ? this.#http(who, 'DELETE', path)
      : this.#http(who, kind === 'share' ? 'PUT' : 'DELETE', shares));
    if (frame === undefined) expect([404, 410], answer.text).toContain(answer.status);
    else if (kind === 'drop') this.#model.frames[who].set(name, undefined);
    else if (kind === 'share' || answer.status === 200) frame.isShared = kind === 'share';
    return seen(answer);
  }

  async #read(who: Name, kind: 'read' | 'describe' | 'sql' | 'doGet' | 'write', of: FrameOf): Promise<string> {
    const frame = this.#model.seen(who, of);
    const own = of.owner === who;
    const name = own ? this.#handle(of.handle) : `${of.owner}/${this.#handle(of.handle)}`;
    const table = `${own ? '' : `${of.owner}.`}"${this.#handle(of.handle)}"`;
    // SQL ignores case where no frame has the name exactly, and says 400 where there is none.
    if (kind === 'sql' && frame === undefined && this.#hasAlike(who, of)) return '';
    const notFound = kind === 'sql' ? 400 : 404;
    const missing = own && this.#model.frames[who].has(of.handle) ? [410] : own ? [notFound] : [notFound, 410];
    if (kind === 'doGet') {
      const { status, messages } = await (flights.get(who) as FlightClient).get(name);
      const text = `${status.details}${ipcOf(messages).toString('latin1')}`;
      expect(status.code === 0).toBe(frame !== undefined);
      for (const row of frame?.rows ?? []) expect(text).toContain(row);
      return text;
    }
    const answer =
      kind === 'read'
        ? await this.#http(who, 'GET', `/exec?handle=${encodeURIComponent(name)}&fmt=json`)
        : kind === 'describe'
          ? await this.#http(who, 'GET', `/handles/${encodeURIComponent(name)}`)
          : kind === 'sql'
            ? await this.#http(who, 'POST', '/sql', JSON.stringify({ sql: `select a from ${table}` }))
            : await this.#http(who, 'POST', `/imp?name=${encodeURIComponent(name)}&append=true`, 'a\nwritten\n');
    if (kind === 'write') {
      if (!own) expect(answer.status, answer.text).toBe(frame === undefined ? 404 : 403);
      else this.#wrote(who, of.handle);
    } else if (frame === undefined) expect(missing, answer.text).toContain(answer.status);
    else {
      expect(answer.status, `${kind} of ${name}: ${answer.text}`).toBe(200);
      if (kind !== 'describe') for (const row of frame.rows) expect(answer.text).toContain(row);
    }
    return seen(answer);
  }

  #hasAlike(who: Name, { owner, handle: name }: FrameOf): boolean {
    return [...this.#model.frames[owner].keys()].some(
      (each) =>
        each !== name &&
        each.toLowerCase() === name.toLowerCase() &&
        this.#model.seen(who, { owner, handle: each }) !== undefined,
    );
  }

  #wrote(who: Name, name: string): void {
    const frame = this.#model.held(who, name);
    if (frame === undefined) this.#model.frames[who].set(name, { rows: ['written'], isShared: false });
    else frame.rows.push('written');
  }

  async #list(who: Name, kind: 'list' | 'showTables' | 'catalogs' | 'queries'): Promise<string> {
    const answer =
      kind === 'list'
        ? await this.#http(who, 'GET', '/handles')
        : kind === 'queries'
          ? await this.#http(who, 'GET', '/queries')
          : await this.#http(
              who,
              'POST',
              '/sql',
              JSON.stringify({ sql: kind === 'catalogs' ? catalogSql : 'show tables' }),
            );
    expect(answer.status).toBe(200);
    if (kind === 'catalogs') this.#checkCatalogs(who, answer);
    for (const [name, frame] of this.#model.frames[other[who]]) {
      const isThere = kind === 'list' && frame?.isShared === true;
      if (kind === 'list') {
        const { handles } = answer.json() as { handles: { handle: string }[] };
        const names = handles.map(({ handle: each }) => each);
        expect(names.includes(`${other[who]}/${this.#handle(name)}`), name).toBe(isThere);
      }
    }
    return seen(answer);
  }

  /** Of names that differ only in case the catalogs tell one. */
  #checkCatalogs(who: Name, answer: Answer): void {
    const { dataset } = answer.json() as { dataset: string[][] };
    const listed = new Set(dataset.map(([name = '']) => name.toLowerCase()));
    const prefix = `${other[who]}/${this.#prefix}`.toLowerCase();
    const shared = [...this.#model.frames[other[who]]].filter(([, frame]) => frame?.isShared === true);
    const names = new Set(shared.map(([name]) => `${other[who]}/${this.#handle(name)}`.toLowerCase()));
    expect(new Set([...listed].filter((name) => name.startsWith(prefix)))).toEqual(names);
  }

  #handle(name: string): string {
    return `${this.#prefix}${name}`;
  }

  #http(who: Name, method: string, path: string, body?: string): Promise<Answer> {
    return closed.as(tokens.get(who), method, path, body);
  }
}

function seen({ status, headers, text }: Answer): string {
  return `${status} ${JSON.stringify(headers)} ${text}`;
}

let runs = 0;

test('whatever two tenants do, neither sees anything of the other but what is shared at that time', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 30 }), async (steps) => {
      const run = new Run(`r${++runs}.`);
      for (const each of steps) await run.take(each);
    }),
    { seed: 20261117, numRuns: 15, interruptAfterTimeLimit: 60_000 },
  );
}, 180_000);

test('lines of the log about one tenant hold nothing of the other', () => {
  const rows = { ada: /ada-r\d+\.-\d+/, bob: /bob-r\d+\.-\d+/ };
  const log = closed.server.log();
  for (const tenant of tenants) {
    expect(log).not.toMatch(rows[tenant]);
    expect(log).not.toContain(tokens.get(tenant));
  }
});
