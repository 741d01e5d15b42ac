import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { status } from '@grpc/grpc-js';
import { generateToken } from '../../../src/auth/token.ts';
import { FlightClient } from '../../support/flight-client.ts';
import { residentBytesOf } from '../../support/process-facts.ts';
import { type SpawnedFramehold, spawnFramehold } from '../../support/spawned-framehold.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { makeTokens } from '../../support/tls-framehold.ts';
import type { Random } from '../harness/random.ts';
import { promised, type Scenario, type Trial } from '../harness/scenario.ts';
import { Connection } from '../load/connection.ts';
import { quantile } from '../load/quantile.ts';
import { bearer } from './closed-servers.ts';

const clients = 8;
const mostGrownBytes = 200e6;
/** Lines of the audit in a minute: of single requests, and one for each address that it keeps. */
const auditLinesAMinute = 1000 + 1001 + 1001;
/** Addresses of which the log has a line a minute. */
const logLinesAMinute = 10_001;
const perConnection = 100;

/** T6: wrong credentials without an end, from many addresses, and a good one from the same ones. */
export const failedLogins: Scenario = {
  id: 'T6',
  promise: 'failed logins without an end take bounded memory, log and audit, and lock out no good credential',
  rounds: { ci: 500, release: 1_000_000 },
  secondsPerRound: 0.01,
  async run({ rounds, random, progress }: Trial) {
    await using directory = await temporaryDirectory();
    const dataDir = join(directory.path, 'data');
    const audit = join(directory.path, 'audit.jsonl');
    const { read: token } = await makeTokens(join(dataDir, 'cold'));
    await using server = await spawnFramehold({ dataDir, flags: ['--auth-enabled', '--audit-file', audit] });
    const logins = new Logins(server, token);
    await logins.attack(random, Math.min(2000, Math.ceil(rounds / 4)));
    const warmBytes = residentBytesOf(server.pid);
    const attackers = Array.from({ length: clients }, async (_, client) => {
      for (let n = 1; logins.wrong < rounds; n++) {
        await logins.attack(random, perConnection);
        if (client === 0 && n % 100 === 0) progress(`${logins.wrong} failed logins`);
      }
    });
    await Promise.all([...attackers, logins.overFlight(() => logins.wrong < rounds)]);
    const grownBytes = residentBytesOf(server.pid) - warmBytes;
    promised(grownBytes < mostGrownBytes, 'the memory of the server does not grow', grownBytes);
    const minutes = Math.ceil(logins.elapsedMinutes) + 1;
    const failed = (await readFile(audit, 'utf8')).split('\n').filter((line) => !line.includes('"credential":"token"'));
    promised(failed.length <= minutes * auditLinesAMinute, 'the audit has a bounded number of lines', failed.length);
    const logLines = server.stderr().split('\n').length;
    promised(logLines <= minutes * logLinesAMinute + 100, 'the log has a bounded number of lines', logLines);
    return {
      failed: logins.wrong,
      addresses: logins.addresses.size,
      good: logins.goodMs.length,
      'locked out': 0,
      'good p99 ms': Math.round(quantile(logins.goodMs, 0.99)),
      'grown MB': Math.round(grownBytes / 1e6),
      'audit lines': failed.length,
      'log lines': logLines,
    };
  },
};

/** Callers whom nobody knows, and now and then one whom the server knows, from the same address. */
class Logins {
  readonly #server: SpawnedFramehold;
  readonly #token: string;
  readonly #startedAt = performance.now();
  readonly addresses = new Set<string>();
  readonly goodMs: number[] = [];
  wrong = 0;

  constructor(server: SpawnedFramehold, token: string) {
    this.#server = server;
    this.#token = token;
  }

  get elapsedMinutes(): number {
    return (performance.now() - this.#startedAt) / 60_000;
  }

  /** Over one connection. Half of the attackers have few addresses, the others many. */
  async attack(random: Random, count: number): Promise<void> {
    const last = random.chance(0.5) ? random.between(1, 3) : random.between(1, 254);
    const address = `127.1.${last > 3 ? random.between(0, 99) : 0}.${last}`;
    this.addresses.add(address);
    using connection = new Connection(this.#server.url, address);
    for (let n = 0; n < count; n++) {
      const answer = await connection.ask('/handles', { headers: { authorization: wrongCredential(random) } });
      this.wrong += 1;
      promised([401, 429].includes(answer.status), 'a wrong credential is refused', [answer.status, answer.text]);
      if (n % 20 === 19) await this.#good(connection);
    }
  }

  async overFlight(goesOn: () => boolean): Promise<void> {
    using client = new FlightClient(this.#server.grpcPort);
    while (goesOn()) {
      const wrong = await client.list('', bearer(generateToken()));
      this.wrong += 1;
      const isRefused = [status.UNAUTHENTICATED, status.UNAVAILABLE].includes(wrong.status.code);
      promised(isRefused, 'a wrong credential is refused over Flight', wrong.status.details);
      const good = await client.list('', bearer(this.#token));
      promised(good.status.code === status.OK, 'a good credential is taken over Flight', good.status.details);
    }
  }

  async #good(connection: Connection): Promise<void> {
    const answer = await connection.ask('/handles', { headers: bearer(this.#token) });
    promised(answer.status === 200, 'a good credential is taken from any address', [answer.status, answer.text]);
    this.goodMs.push(answer.ms);
  }
}

function wrongCredential(random: Random): string {
  const token = generateToken();
  const jwt = `eyJhbGciOiJFUzI1NiJ9.${random.bytes(20).toString('base64url')}.${random.bytes(64).toString('base64url')}`;
  return random.pick([
    `Bearer ${token}`,
    `Bearer ${token}`,
    `Bearer ${token.slice(0, -1)}`,
    `Basic ${Buffer.from(`user${random.between(0, 1e9)}:${token}`).toString('base64')}`,
    `Basic ${Buffer.from('admin:admin').toString('base64')}`,
    `Bearer ${jwt}`,
    `Bearer ${random.bytes(random.between(1, 2000)).toString('base64url')}`,
  ]);
}
