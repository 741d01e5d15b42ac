import { randomBytes } from 'node:crypto';
import type { Tenant } from '../../../src/core/callers/principal.ts';
import { FlightSqlClient } from '../../support/flight-sql-client.ts';
import { ask } from '../../support/http-client.ts';
import type { Random } from '../harness/random.ts';
import { promised, type Scenario, type Size, type Trial } from '../harness/scenario.ts';
import { until } from '../harness/until.ts';
import { Connection } from '../load/connection.ts';
import { quantile } from '../load/quantile.ts';
import { bearer, ClosedServers } from './closed-servers.ts';
import { bareReply, type Prober, probes, type Subject } from './probes.ts';

const owner = 'owner';
const content = 'a\n1\n';

/** T1: a tenant asks for names that are not there and for names that are another tenant's. */
export const probing: Scenario = {
  id: 'T1',
  promise: 'what is another tenant’s answers like what never was: the same bytes, in the same time',
  rounds: { ci: 400, release: 100_000 },
  secondsPerRound: 0.1,
  async run({ rounds, size, random, progress }: Trial) {
    await using servers = await ClosedServers.start(1);
    const { url, grpcPort } = servers.at(0);
    await servers.makeTenant(owner);
    await servers.makeTenant('prober');
    const ownerHeaders = bearer((await servers.makeToken({ role: 'admin', tenant: owner })).token);
    const headers = bearer((await servers.makeToken({ role: 'admin', tenant: 'prober' })).token);
    using http = new Connection(url);
    using flightSql = new FlightSqlClient(grpcPort, headers);
    using ownerSql = new FlightSqlClient(grpcPort, ownerHeaders);
    const names = await makeNames(servers, { ownerHeaders, ownerSql, random, count: size === 'ci' ? 6 : 200 });
    const prober: Prober = { http, flightSql, headers, otherTenant: owner, ownFrame: 'mine' };
    await put(url, headers, 'mine');

    const cases = await probe(prober, names, { rounds, random, progress });
    const largestMicros = assertTimes(cases, size);
    await probeStatements(url, ownerHeaders, prober);
    await probePuts(prober, names.frame);
    for (const handle of names.frame.held ?? []) {
      const { text } = await ask(`${url}/exp?handle=${handle}`, { headers: ownerHeaders });
      promised(text.replaceAll('\r', '') === content, `${handle} is as its owner left it`, text);
    }
    return { requests: rounds, probes: Object.keys(probes).length, 'largest difference of medians µs': largestMicros };
  },
};

/** By their kind: `absent` are those that never were; all others are another tenant's. */
type Names = Readonly<Record<Subject, Readonly<Record<string, readonly string[]>>>>;

interface Owner {
  readonly ownerHeaders: { readonly authorization: string };
  readonly ownerSql: FlightSqlClient;
  readonly random: Random;
  /** Of each kind. */
  readonly count: number;
}

async function makeNames(servers: ClosedServers, { ownerHeaders, ownerSql, random, count }: Owner): Promise<Names> {
  const { url } = servers.at(0);
  const some = (make: () => string): string[] => Array.from({ length: count }, make);
  const word = (): string => `n${random.bytes(5).toString('hex')}`;
  const frame = { absent: some(word), held: some(word), shared: some(word), dropped: some(word) };
  for (const handle of [...frame.held, ...frame.shared, ...frame.dropped]) await put(url, ownerHeaders, handle);
  for (const handle of frame.shared) {
    await ask(`${url}/handles/${handle}/shares/third`, { method: 'PUT', headers: ownerHeaders });
  }
  for (const handle of frame.dropped) {
    await ask(`${url}/handles/${handle}`, { method: 'DELETE', headers: ownerHeaders });
  }
  const tenant = { absent: some(word), made: some(word) };
  for (const name of tenant.made) await servers.makeTenant(name);
  const readers = { role: 'read', tenant: owner as Tenant, prefix: undefined, expiresAt: undefined } as const;
  const token = { absent: some(() => randomBytes(6).toString('hex')), made: [] as string[] };
  const prepared = { absent: some(() => randomBytes(16).toString('hex')), made: [] as string[] };
  const transaction = { absent: some(() => randomBytes(16).toString('hex')), made: [] as string[] };
  for (let n = 0; n < count; n++) {
    token.made.push((await servers.records.createToken({ ...readers, name: word() })).record.id);
    prepared.made.push((await ownerSql.prepare('select 1 a')).handle.toString('hex'));
    transaction.made.push((await ownerSql.begin()).toString('hex'));
  }
  return { frame, tenant, token, 'prepared statement': prepared, transaction };
}

async function put(url: string, headers: { readonly authorization: string }, handle: string): Promise<void> {
  const answer = await ask(`${url}/imp?name=${handle}`, { method: 'POST', headers, body: content });
  promised(answer.status === 200, `${handle} is put`, answer.text);
}

interface Sampled {
  readonly title: string;
  readonly kind: string;
  /** Milliseconds. */
  readonly sampled: readonly number[];
}

async function probe(
  prober: Prober,
  names: Names,
  { rounds, random, progress }: Pick<Trial, 'rounds' | 'random' | 'progress'>,
): Promise<readonly Sampled[]> {
  const expected = new Map<string, string>();
  const cases = Object.entries(probes).flatMap(([title, one]) =>
    Object.entries(names[one.subject]).map(([kind, pool]) => ({ title, one, kind, pool, sampled: [] as number[] })),
  );
  for (let n = 0; n < rounds; n++) {
    // Every case once before any of them again, each time in another order: what the machine does meanwhile hits all alike.
    if (n % cases.length === 0) shuffle(cases, random);
    const { title, one, kind, pool, sampled } = cases[n % cases.length] as (typeof cases)[number];
    const startedAt = performance.now();
    const answer = await one.ask(prober, random.pick(pool));
    const ms = performance.now() - startedAt;
    const before = expected.get(title) ?? answer;
    expected.set(title, before);
    promised(answer === before, `${title} answers the same for a name that is ${kind}`, [before, answer]);
    sampled.push(ms);
    if (n % 10_000 === 9999) progress(`${n + 1} requests`);
  }
  return cases;
}

function shuffle<T>(items: T[], random: Random): void {
  for (let at = items.length - 1; at > 0; at--) {
    const other = random.between(0, at);
    [items[at], items[other]] = [items[other] as T, items[at] as T];
  }
}

/** How far apart medians may be: in standard errors of their difference, and in any case a share of the median. */
const bounds = { ci: { errors: 5, share: 1 }, release: { errors: 5, share: 0.03 } } as const;

/** Fewer of one request say nothing of it alone. */
const enoughSamples = 100;

/** Gives the largest difference, in microseconds. */
function assertTimes(cases: readonly Sampled[], size: Size): number {
  const { errors, share } = bounds[size];
  const compared = cases.some(({ sampled }) => sampled.length < enoughSamples) ? pooled(cases) : cases;
  for (const one of compared) {
    const absent = absentOf(compared, one.title);
    const median = quantile(absent, 0.5);
    const allowed = Math.max(errors * Math.hypot(medianError(absent), medianError(one.sampled)), share * median);
    const found = { difference: medianDifference(compared, one), allowed, median, samples: one.sampled.length };
    promised(found.difference <= allowed, `${one.title} takes the same time for a name that is ${one.kind}`, found);
  }
  return Math.round(Math.max(...cases.map((one) => medianDifference(cases, one))) * 1000);
}

function absentOf(cases: readonly Sampled[], title: string): readonly number[] {
  return cases.find((one) => one.title === title && one.kind === 'absent')?.sampled ?? [];
}

function medianDifference(cases: readonly Sampled[], { title, sampled }: Sampled): number {
  return Math.abs(quantile(sampled, 0.5) - quantile(absentOf(cases, title), 0.5));
}

/** All requests for a kind of name as one case, with times as multiples of what the same request takes for an absent name. */
function pooled(cases: readonly Sampled[]): Sampled[] {
  const kinds = [...new Set(cases.map(({ kind }) => kind))];
  return kinds.map((kind) => {
    const ofKind = cases.filter((one) => one.kind === kind);
    const sampled = ofKind.flatMap(({ title, sampled }) => {
      const usual = quantile(absentOf(cases, title), 0.5);
      return sampled.map((ms) => ms / usual);
    });
    return { title: 'a request', kind, sampled };
  });
}

/** The standard error of the median, from the distance of the quartiles. */
function medianError(samples: readonly number[]): number {
  return (0.93 * (quantile(samples, 0.75) - quantile(samples, 0.25))) / Math.sqrt(samples.length);
}

async function probeStatements(
  url: string,
  ownerHeaders: { readonly authorization: string },
  { http, headers }: Prober,
): Promise<void> {
  const cancel = (id: string) => http.ask(`/queries/${id}`, { method: 'DELETE', headers });
  const [running, absent] = ['s-running', 's-nothing'];
  using connection = new Connection(url);
  const statement = connection.sql('select count(*) from range(100000000000)', {
    headers: { ...ownerHeaders, 'x-request-id': running },
  });
  await until('the statement runs', 20_000, async () => {
    return (await ask(`${url}/queries`, { headers: ownerHeaders })).text.includes(running);
  });
  const [theirs, none] = [bareReply(await cancel(running), running), bareReply(await cancel(absent), absent)];
  promised(theirs === none, 'another tenant’s statement answers like one that never was', [theirs, none]);
  promised(!(await http.ask('/queries', { headers })).text.includes(running), 'it is not listed');
  const stopped = await ask(`${url}/queries/${running}`, { method: 'DELETE', headers: ownerHeaders });
  promised(stopped.status === 200, 'it still runs, and its owner stops it', stopped.text);
  await statement;
}

/** A frame may be put under a name that another tenant has or had. */
async function probePuts({ http, headers }: Prober, frames: Names['frame']): Promise<void> {
  const put = async (name: string, more: string): Promise<string> => {
    const reply = await http.ask(`/imp?name=${name}&fmt=json${more}`, { method: 'POST', headers, body: content });
    const { ms: _, ...said } = JSON.parse(reply.text) as Record<string, unknown>;
    return JSON.stringify([reply.status, said]).replaceAll(name, 'NAME');
  };
  let expected: string | undefined;
  for (const [kind, pool] of Object.entries(frames)) {
    for (const name of pool.slice(0, 3)) {
      const answers = (await put(name, '')) + (await put(name, '&append=true'));
      expected ??= answers;
      promised(answers === expected, `a put answers the same for a name that is ${kind}`, [expected, answers]);
    }
  }
}
