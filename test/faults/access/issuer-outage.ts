import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { status } from '@grpc/grpc-js';
import { FlightClient } from '../../support/flight-client.ts';
import { type Answer, ask } from '../../support/http-client.ts';
import { issuerFaults, TestIssuer } from '../../support/issuer.ts';
import { type TemporaryDirectory, temporaryDirectory } from '../../support/temporary-directory.ts';
import { promised, type Scenario, type Size, type Trial } from '../harness/scenario.ts';
import { until } from '../harness/until.ts';
import { bearer, ClosedServers } from './closed-servers.ts';

const preload = new URL('./advanced-clock.mjs', import.meta.url).href;
/** A fetch is tried at most once in this time. */
const fetchEveryMs = 30_000;
const refreshAfterMs = 10 * 60_000;
const maxStaleMs = 60 * 60_000;
/** What needs nothing of the issuer is answered within. */
const promptMs = { ci: 4000, release: 1000 } as const;

/** T4: an issuer that is down, silent or lies, before the server has its keys and after. */
export const issuerOutage: Scenario = {
  id: 'T4',
  promise:
    'while an issuer fails, its keys and all tokens work on, it is asked once in 30 s, and new keys are found then',
  rounds: { ci: 1, release: 40 },
  secondsPerRound: 60,
  async run({ rounds, size, random, progress }: Trial) {
    const counts = { requests: 0, attempts: 0, slowestMs: 0 };
    // Those that CI begins with do not take long.
    let next = size === 'ci' ? 0 : random.between(0, issuerFaults.length - 1);
    const nextFault = () => issuerFaults[next++ % issuerFaults.length];
    for (let round = 0; round < rounds; round++) {
      await using trial = await OutageTrial.start(size, nextFault());
      await trial.hasNoKeys();
      await trial.recovers();
      trial.issuer.fault = nextFault();
      await trial.keepsKeys(size === 'ci' ? 40 : 1000);
      trial.issuer.fault = nextFault();
      await trial.losesStaleKeys();
      await trial.findsRotatedKey(size === 'release' && round % 4 === 0);
      counts.requests += trial.requests;
      counts.attempts += trial.issuer.attempts;
      counts.slowestMs = Math.max(counts.slowestMs, trial.slowestMs);
      progress(`${3 * round + 3} outages, ${counts.requests} requests`);
    }
    const { requests, attempts, slowestMs } = counts;
    return {
      outages: 3 * rounds,
      requests,
      fetches: attempts,
      'slowest answer without the issuer ms': Math.round(slowestMs),
    };
  },
};

class OutageTrial implements AsyncDisposable {
  readonly issuer: TestIssuer;
  readonly #servers: ClosedServers;
  readonly #clock: AdvancedClock;
  readonly #size: Size;
  readonly #token: string;
  #signed = 0;
  requests = 0;
  slowestMs = 0;

  private constructor(
    size: Size,
    {
      issuer,
      servers,
      clock,
      token,
    }: { issuer: TestIssuer; servers: ClosedServers; clock: AdvancedClock; token: string },
  ) {
    this.#size = size;
    this.issuer = issuer;
    this.#servers = servers;
    this.#clock = clock;
    this.#token = token;
  }

  /** The issuer fails already when the server starts. */
  static async start(size: Size, fault: TestIssuer['fault']): Promise<OutageTrial> {
    const issuer = await TestIssuer.start();
    issuer.fault = fault;
    const clock = await AdvancedClock.make();
    const toml = `[auth]
jwks_max_stale = "${maxStaleMs / 1000}s"
[auth.issuers.corp]
issuer = "${issuer.url}"
audience = "framehold"
tenant = "default"
role_claim = "groups"
roles = { quants = "write" }
`;
    const servers = await ClosedServers.start(1, { toml, env: clock.env });
    const { token } = await servers.makeToken({ role: 'read' });
    return new OutageTrial(size, { issuer, servers, clock, token });
  }

  async hasNoKeys(): Promise<void> {
    const { fault } = this.issuer;
    const answer = await this.#ask(await this.#sign());
    promised(answer.status === 503, `without keys (${fault}) a JWT is not judged`, answer.text);
    promised(answer.json().code === 'auth_unavailable', `without keys (${fault}) the code says so`, answer.text);
    promised(Number(answer.headers['retry-after']) > 0, `without keys (${fault}) it is said when to come again`);
    await this.#worksPromptly('a token without keys', this.#token);
    promised(this.issuer.attempts <= 1, 'the issuer is asked once', this.issuer.attempts);
  }

  async recovers(): Promise<void> {
    this.issuer.fault = undefined;
    this.#clock.advance(fetchEveryMs + 1000);
    const answer = await this.#ask(await this.#sign());
    promised(answer.status === 200, 'once the issuer is back its JWTs work', answer.text);
  }

  /** Neither JWTs of an unknown key, as many as they are, nor the time for newer keys change anything. */
  async keepsKeys(unknown: number): Promise<void> {
    const { issuer } = this;
    const remembered = await this.#sign();
    await this.#worksPromptly('a JWT', remembered);
    for (const [why, advanceMs] of [
      ['unknown keys', fetchEveryMs],
      ['a refresh', refreshAfterMs],
    ] as const) {
      this.#clock.advance(advanceMs + 1000);
      const [attempts, startedAt] = [issuer.attempts, performance.now()];
      await Promise.all([
        this.#refusesUnknownKeys(why === 'a refresh' ? 0 : unknown),
        this.#worksPromptly('a JWT that is remembered', remembered),
        this.#worksPromptly('a token', this.#token),
        ...Array.from({ length: 5 }, async () => this.#worksPromptly('a new JWT of a known key', await this.#sign())),
        this.#worksOverFlight(await this.#sign()),
      ]);
      const allowed = 1 + Math.floor((performance.now() - startedAt) / fetchEveryMs);
      const made = issuer.attempts - attempts;
      promised(made <= allowed, `after ${why} the issuer (${issuer.fault}) is asked ${allowed} times at most`, made);
    }
  }

  async losesStaleKeys(): Promise<void> {
    this.#clock.advance(maxStaleMs + 1000);
    const answer = await this.#ask(await this.#sign());
    promised(answer.status === 503, `keys that are too old are not used (${this.issuer.fault})`, answer.text);
    await this.#worksPromptly('a token with keys that are too old', this.#token);
  }

  async findsRotatedKey(waits: boolean): Promise<void> {
    const old = await this.#sign();
    this.issuer.fault = undefined;
    this.issuer.rotate('k2');
    if (!waits) this.#clock.advance(fetchEveryMs + 1000);
    await until('a rotated key is known', waits ? fetchEveryMs + 2000 : promptMs[this.#size], async () => {
      return (await this.#ask(await this.#sign())).status === 200;
    });
    promised((await this.#ask(old)).status === 401, 'a key that the issuer has no more is not used');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.issuer.stop();
    await this.#servers[Symbol.asyncDispose]();
    await this.#clock[Symbol.asyncDispose]();
  }

  async #refusesUnknownKeys(count: number): Promise<void> {
    for (let sent = 0; sent < count; ) {
      const batch = Math.min(20, count - sent);
      sent += batch;
      const some = Array.from({ length: batch }, async (_, n) => this.#ask(await this.#sign(`unknown${sent + n}`)));
      for (const answer of await Promise.all(some)) {
        promised(answer.status === 401, `an unknown key is refused (${this.issuer.fault})`, answer.text);
      }
    }
  }

  async #worksPromptly(what: string, credential: string): Promise<void> {
    const startedAt = performance.now();
    const answer = await this.#ask(credential);
    const ms = performance.now() - startedAt;
    promised(answer.status === 200, `${what} works (${this.issuer.fault})`, answer.text);
    promised(ms < promptMs[this.#size], `${what} does not wait for the issuer (${this.issuer.fault})`, ms);
    this.slowestMs = Math.max(this.slowestMs, ms);
  }

  async #worksOverFlight(jwt: string): Promise<void> {
    using client = new FlightClient(this.#servers.at(0).grpcPort, bearer(jwt));
    const answer = await client.list();
    promised(answer.status.code === status.OK, 'a new JWT of a known key works over Flight', answer.status.details);
  }

  #ask(credential: string): Promise<Answer> {
    this.requests += 1;
    return ask(`${this.#servers.at(0).url}/whoami`, { headers: bearer(credential) });
  }

  /** One that the server has not seen. */
  #sign(kid?: string): Promise<string> {
    return this.issuer.sign({ jti: String(++this.#signed) }, kid === undefined ? {} : { kid });
  }
}

/** Lets time pass in a server, for what is measured by the clock that nobody sets. Timers are as they are. */
class AdvancedClock implements AsyncDisposable {
  readonly #directory: TemporaryDirectory;
  #advancedMs = 0;

  private constructor(directory: TemporaryDirectory) {
    this.#directory = directory;
    this.advance(0);
  }

  static async make(): Promise<AdvancedClock> {
    return new AdvancedClock(await temporaryDirectory());
  }

  get env(): Readonly<Record<string, string>> {
    return { NODE_OPTIONS: `--import=${preload}`, ADVANCED_CLOCK_FILE: this.#file };
  }

  advance(ms: number): void {
    this.#advancedMs += ms;
    writeFileSync(`${this.#file}.new`, String(this.#advancedMs));
    renameSync(`${this.#file}.new`, this.#file);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#directory[Symbol.asyncDispose]();
  }

  get #file(): string {
    return join(this.#directory.path, 'clock');
  }
}
