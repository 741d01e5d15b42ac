import { writeFile } from 'node:fs/promises';
import { Agent, request } from 'node:https';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { credentials, status } from '@grpc/grpc-js';
import type { Certificate } from '../../support/certificates.ts';
import { FlightClient } from '../../support/flight-client.ts';
import { type SpawnedFramehold, spawnFramehold } from '../../support/spawned-framehold.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import {
  makeTlsFiles,
  makeTokens,
  servedSerials,
  serverNames,
  type TlsFiles,
  writePair,
} from '../../support/tls-framehold.ts';
import type { Random } from '../harness/random.ts';
import { promised, type Scenario, type Trial } from '../harness/scenario.ts';
import { until } from '../harness/until.ts';
import { bearer } from './closed-servers.ts';

/** The files are looked at twice a second, and taken when they have not changed in between. */
const boundsMs = { ci: 10_000, release: 3000 } as const;

/** T3: certificates are replaced, in good ways and bad ones, while clients connect, stay connected and resume sessions. */
export const certificateReload: Scenario = {
  id: 'T3',
  promise: 'a certificate is replaced under load without a failed request, and files that do not fit change nothing',
  rounds: { ci: 2, release: 200 },
  secondsPerRound: 15,
  async run({ rounds, size, random, progress }: Trial) {
    await using directory = await temporaryDirectory();
    const files = await makeTlsFiles(directory.path);
    const dataDir = join(directory.path, 'data');
    const { read: token } = await makeTokens(join(dataDir, 'cold'));
    const flags = ['--auth-enabled', '--tls-cert-file', files.certFile, '--tls-key-file', files.keyFile];
    await using server = await spawnFramehold({ dataDir, flags });
    const load = new TlsLoad(server, files, token);
    const traffic = load.run();
    let slowestMs = 0;
    const replace = async (): Promise<void> => {
      for (let round = 0; round < rounds && !load.isOver; round++) {
        const next = files.authority.issue(serverNames);
        const way = ways[round % ways.length] as (typeof ways)[number];
        await way(files, next, { server, random });
        const serial = next.serial.toString('hex').toUpperCase();
        const tookMs = await until('both listeners serve the new certificate', boundsMs[size], async () => {
          return (await servedSerials(server)).every((served) => served === serial);
        });
        slowestMs = Math.max(slowestMs, tookMs);
        if (round % 20 === 19) progress(`${round + 1} certificates, ${load.requests} requests`);
      }
      load.isOver = true;
    };
    await Promise.all([traffic, replace()]).finally(() => {
      load.isOver = true;
    });
    return { certificates: rounds, requests: load.requests, failed: 0, 'slowest reload ms': Math.round(slowestMs) };
  },
};

type Replace = (
  files: TlsFiles,
  next: Certificate,
  context: { readonly server: SpawnedFramehold; readonly random: Random },
) => Promise<void>;

const ways: readonly Replace[] = [
  async (files, next) => writePair(files, next),
  // In place, one file some time after the other, and a signal in between.
  async (files, next, { server, random }) => {
    await writeFile(files.certFile, next.cert);
    await delay(random.between(0, 700));
    if (random.chance(0.5)) server.kill('SIGHUP');
    await writeFile(files.keyFile, next.key);
  },
  // First half a certificate.
  async (files, next, { server, random }) => {
    await writeFile(files.certFile, next.cert.slice(0, random.between(0, next.cert.length - 1)));
    server.kill('SIGHUP');
    await delay(random.between(0, 1500));
    await writePair(files, next);
  },
  async (files, next, { server }) => {
    await writePair(files, next);
    for (let n = 0; n < 5; n++) server.kill('SIGHUP');
  },
];

/** Requests of clients of every kind, each of which must succeed. */
class TlsLoad {
  readonly #server: SpawnedFramehold;
  readonly #ca: string;
  readonly #token: string;
  requests = 0;
  isOver = false;

  constructor(server: SpawnedFramehold, { authority }: TlsFiles, token: string) {
    this.#server = server;
    this.#ca = authority.cert;
    this.#token = token;
  }

  async run(): Promise<void> {
    await Promise.all([
      this.#overHttp({ keepAlive: false, maxCachedSessions: 0 }),
      this.#overHttp({ keepAlive: false }),
      this.#overHttp({ keepAlive: true, maxSockets: 1 }),
      this.#overHttp({ keepAlive: true, maxSockets: 1 }),
      this.#overFlight(false),
      this.#overFlight(true),
    ]).finally(() => {
      this.isOver = true;
    });
  }

  async #overHttp(options: { keepAlive: boolean; maxSockets?: number; maxCachedSessions?: number }): Promise<void> {
    const agent = new Agent({ ...options, ca: this.#ca });
    for (let n = 0; !this.isOver; n++) {
      const { code, isReused } = await this.#get(agent);
      promised(code === 200, 'every request over HTTPS succeeds', code);
      promised(isReused === (options.keepAlive && n > 0), 'a connection that is kept stays', n);
      await delay(2);
    }
    agent.destroy();
  }

  #get(agent: Agent): Promise<{ readonly code: number; readonly isReused: boolean }> {
    this.requests += 1;
    return new Promise((resolve, reject) => {
      const outgoing = request(`${this.#server.url}/handles`, { agent, headers: bearer(this.#token) }, (incoming) => {
        const { statusCode: code = 0 } = incoming;
        incoming.resume().on('error', reject);
        incoming.on('end', () => resolve({ code, isReused: outgoing.reusedSocket }));
      });
      outgoing.on('error', reject).end();
    });
  }

  async #overFlight(isKept: boolean): Promise<void> {
    const channel = credentials.createSsl(Buffer.from(this.#ca));
    const connect = (): FlightClient => new FlightClient(this.#server.grpcPort, bearer(this.#token), channel);
    let client = connect();
    while (!this.isOver) {
      this.requests += 1;
      const answer = await client.list();
      promised(answer.status.code === status.OK, 'every call over TLS succeeds', answer.status.details);
      if (!isKept) {
        client[Symbol.dispose]();
        client = connect();
      }
      await delay(2);
    }
    client[Symbol.dispose]();
  }
}
