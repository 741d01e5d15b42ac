import { abortable, withTimeout } from '@framehold/async';
import { request } from 'undici';
import { discover, fetchJson } from '../auth/discovery.ts';
import type { IssuerConfig } from '../config/auth-settings.ts';
import type { Config } from '../config/config.ts';
import { maskCredentials } from '../config/http-url.ts';
import { LinkedAbort } from '../core/async/linked-abort.ts';
import { errnoOf } from '../core/errors/storage-error.ts';
import { silentLogger } from '../core/logs/logger.ts';
import { tsdbEngineName } from '../core/names/engine-names.ts';
import type { NamedEngine } from '../core/sql/engine.ts';
import type { ClockFacts } from '../doctor/clock.ts';
import type { Finding } from '../doctor/finding.ts';
import { judgeService, late, type ServiceFacts, serviceTimeoutMs, tryConnect } from '../doctor/reachability.ts';
import { createTsdb } from '../engines/tsdb/tsdb.ts';
import { tsdbEngine } from '../engines/tsdb/tsdb-engine.ts';
import { createClusterEngine } from './engines.ts';

type Clock = ClockFacts['others'][number];

interface Examined {
  readonly findings: readonly Finding[];
  readonly clocks: readonly Clock[];
}

interface Options {
  readonly signal: AbortSignal;
}

const connectTimeoutMs = 2000;

/** Asks all other programs that the settings name, at once. */
export async function examineServices(config: Config, options: Options): Promise<Examined> {
  const { engines, auth, otel } = config;
  const asking = Promise.all([
    examineTsdb(config, options),
    ...[...engines.keys()].map((name) => examineEngine(config, name, options)),
    ...[...auth.issuers].map(([name, issuer]) => examineIssuer(name, issuer)),
    otel.endpoint === undefined ? nothing() : examineCollector(otel.endpoint),
  ]);
  const asked = await abortable(asking, options.signal);
  return { findings: asked.flatMap(({ findings }) => findings), clocks: asked.flatMap(({ clocks }) => clocks) };
}

async function nothing(): Promise<Examined> {
  return { findings: [], clocks: [] };
}

async function examineTsdb({ tsdb }: Config, options: Options): Promise<Examined> {
  const { httpUrl: url } = tsdb;
  if (url === undefined) return nothing();
  const limits = { timeoutMs: connectTimeoutMs, connectTimeoutMs };
  await using database = createTsdb({ ...tsdb, ...limits, url, logger: silentLogger });
  const facts = await healthOf(tsdbEngine(tsdbEngineName, database), options);
  return { findings: [judgeService('tsdb', maskCredentials(url), facts)], clocks: [] };
}

async function examineEngine(config: Config, name: string, options: Options): Promise<Examined> {
  const engine = config.engines.get(name);
  if (engine === undefined) return nothing();
  const { extraCertificatesFile, storage } = config;
  // Only its health is checked, and it runs nothing whose rows would have to be recoded.
  const recoder = { recode: () => Promise.reject(new Error('not asked for')) };
  const common = { coldDirectory: storage.parquetPath, extraCertificatesFile, recoder, logger: silentLogger };
  await using cluster = await createClusterEngine({ ...engine, ...common, name });
  return { findings: [judgeService('engine', name, await healthOf(cluster, options))], clocks: [] };
}

async function healthOf(engine: NamedEngine, { signal }: Options): Promise<ServiceFacts> {
  using limit = new LinkedAbort([signal], serviceTimeoutMs);
  try {
    const health = await engine.health({ signal: limit.signal });
    if (health.state === 'down') return health;
    return { state: 'up', answer: `answers${health.version === undefined ? '' : `, version ${health.version}`}` };
  } catch {
    return late;
  }
}

async function examineIssuer(name: string, { issuer, jwksUrl }: IssuerConfig): Promise<Examined> {
  const clocks: Clock[] = [];
  const ask = async (): Promise<ServiceFacts> => {
    const clock = await clockOf(issuer);
    if (clock !== undefined) clocks.push({ name: `issuer ${name}`, aheadMs: clock });
    const document = await fetchJson(jwksUrl ?? (await discover(issuer)).jwksUrl);
    const keys = (document as { readonly keys?: unknown } | null)?.keys;
    if (!Array.isArray(keys) || keys.length === 0) return { state: 'down', problem: 'its document of keys has none' };
    return { state: 'up', answer: `gives ${keys.length} key${keys.length === 1 ? '' : 's'}` };
  };
  const asked = ask().catch((error: unknown): ServiceFacts => ({ state: 'down', problem: problemOf(error) }));
  const facts = await withTimeout(asked, serviceTimeoutMs, () => late);
  return { findings: [judgeService('issuer', `${name} (${issuer})`, facts)], clocks };
}

/** The time by which it is ahead, from the time in its answer, which has whole seconds. */
async function clockOf(issuer: string): Promise<number | undefined> {
  const url = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
  const beforeMs = Date.now();
  const { headers, body } = await request(url);
  const afterMs = Date.now();
  await body.dump();
  const toldMs = Date.parse(String(headers.date));
  return Number.isNaN(toldMs) ? undefined : toldMs + 500 - (beforeMs + afterMs) / 2;
}

async function examineCollector(endpoint: string): Promise<Examined> {
  return { findings: [judgeService('otel', maskCredentials(endpoint), await tryConnect(endpoint))], clocks: [] };
}

function problemOf(error: unknown): string {
  const code = errnoOf(error);
  const message = error instanceof Error ? error.message : String(error);
  return code === undefined ? (message.split('\n')[0] ?? message) : `no connection (${code})`;
}
