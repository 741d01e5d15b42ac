import { setTimeout as delay } from 'node:timers/promises';
import type { SpawnedFramehold } from '../../support/spawned-framehold.ts';
import type { Random } from '../harness/random.ts';
import { promised, type Scenario, type Trial } from '../harness/scenario.ts';
import { until } from '../harness/until.ts';
import { ClosedServers } from './closed-servers.ts';
import {
  type Access,
  type AccessClient,
  type EndingAccess,
  endings,
  flightClient,
  httpClient,
} from './ending-access.ts';
import { uploadOverFlight, uploadOverHttp } from './slow-uploads.ts';

const lanes = 6;
/** A busy machine may hold up the look at the records that each server takes three times a second. */
const boundsMs = { ci: 5000, release: 1000 } as const;
/** Within this a request that is under way is ended. */
const streamBoundsMs = { ci: 15_000, release: 5000 } as const;

/** Beyond the refusal, to see that it stays. */
const watchedMs = 1200;

/** T2: tokens, tenants and shares end at one of two servers while both are asked with them all the time. */
export const revocation: Scenario = {
  id: 'T2',
  promise:
    'what is revoked, expired, removed or unshared is refused by all servers within 1 s, and what runs ends within 5 s',
  rounds: { ci: 4, release: 500 },
  secondsPerRound: 10,
  async run({ rounds, size, random, progress }: Trial) {
    await using servers = await ClosedServers.start(2);
    const { token: operator } = await servers.makeToken({ role: 'operator' });
    const { token } = await servers.makeToken({ role: 'read' });
    const counts = { begun: 0, done: 0, requests: 0, slowestMs: 0, slowestStreamMs: 0 };
    const isUnderWay = (): boolean => counts.done < rounds && !hasFailed;
    let hasFailed = false;
    const lane = async (laneRandom: Random): Promise<void> => {
      while (counts.begun < rounds) {
        const make = endings[counts.begun++ % endings.length] as (typeof endings)[number];
        const { requests, lateMs, streamMs } = await watch(servers, await make(servers, operator, laneRandom), {
          boundMs: boundsMs[size],
          streamBoundMs: streamBoundsMs[size],
          random: laneRandom,
        });
        counts.requests += requests;
        counts.slowestMs = Math.max(counts.slowestMs, lateMs);
        counts.slowestStreamMs = Math.max(counts.slowestStreamMs, streamMs);
        if (++counts.done % 50 === 0)
          progress(`${counts.done} ended, the last success ${Math.round(counts.slowestMs)} ms after`);
      }
    };
    const work = [
      ...Array.from({ length: lanes }, () => lane(random.fork())),
      ...clientsOf(servers, { token }).map((client) => keepWorking(client, isUnderWay)),
    ];
    await Promise.all(work).finally(() => {
      hasFailed = true;
    });
    return {
      ended: rounds,
      requests: counts.requests,
      'last success after ms': Math.round(counts.slowestMs),
      'slowest end of an upload ms': Math.round(counts.slowestStreamMs),
    };
  },
};

function clientsOf(servers: ClosedServers, access: Access): AccessClient[] {
  return servers.all.flatMap((server) => [httpClient(server, access), flightClient(server, access)]);
}

async function keepWorking(client: AccessClient, goesOn: () => boolean): Promise<void> {
  using used = client;
  while (goesOn()) {
    promised(await used.works(), 'a credential that has not ended works all the time');
    await delay(5);
  }
}

interface WatchOptions {
  /** From its end on it may work for so long. */
  readonly boundMs: number;
  /** And requests that are under way for so long. */
  readonly streamBoundMs: number;
  readonly random: Random;
}

/** Asks with the access at every server until it is refused for good. Gives how late the last success was asked for. */
async function watch(
  servers: ClosedServers,
  access: EndingAccess,
  { boundMs, streamBoundMs, random }: WatchOptions,
): Promise<{ requests: number; lateMs: number; streamMs: number }> {
  let [mayAt, mustAt] = [Infinity, Infinity];
  let [requests, lateMs, streamMs] = [0, 0, 0];
  const { how } = access;
  const ask = async (client: AccessClient): Promise<void> => {
    using used = client;
    let refusedAt = Infinity;
    while (performance.now() < Math.max(mustAt, refusedAt) + watchedMs) {
      const beganAt = performance.now();
      const works = await used.works();
      requests += 1;
      if (works) {
        promised(refusedAt === Infinity, `${how}: once refused, it stays refused`);
        promised(beganAt < mustAt + boundMs, `${how}: it is refused within ${boundMs} ms`, beganAt - mustAt);
        lateMs = Math.max(lateMs, beganAt - mustAt);
      } else {
        promised(performance.now() > mayAt, `${how}: it works until then`);
        if (refusedAt === Infinity) refusedAt = beganAt;
      }
      await delay(random.between(0, 10));
    }
  };
  const upload = async (open: typeof uploadOverHttp, server: SpawnedFramehold): Promise<void> => {
    using slow = open(server, access.token);
    await until('an upload is ended', Infinity, () => {
      return slow.ended !== undefined || performance.now() > mustAt + streamBoundMs;
    });
    const { isRefused = false, answer } = slow.ended ?? {};
    promised(
      isRefused && performance.now() > mayAt,
      `${how}: then an upload is ended within ${streamBoundMs} ms`,
      answer,
    );
    streamMs = Math.max(streamMs, performance.now() - mustAt);
  };
  const uploads = (access.shared === undefined ? servers.all : []).map((server) =>
    upload(random.pick([uploadOverHttp, uploadOverFlight]), server),
  );
  const clients = clientsOf(servers, access).map(ask);
  const end = async (): Promise<void> => {
    await delay(random.between(50, 400));
    mayAt = performance.now();
    ({ mayAt, mustAt } = await access.end());
  };
  await Promise.all([...clients, ...uploads, end()]);
  return { requests, lateMs, streamMs };
}
