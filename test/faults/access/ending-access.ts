import { status } from '@grpc/grpc-js';
import { FlightClient } from '../../support/flight-client.ts';
import { ask } from '../../support/http-client.ts';
import type { SpawnedFramehold } from '../../support/spawned-framehold.ts';
import type { Random } from '../harness/random.ts';
import { BrokenPromise, promised } from '../harness/scenario.ts';
import { until } from '../harness/until.ts';
import { Connection } from '../load/connection.ts';
import { bearer, type ClosedServers } from './closed-servers.ts';

/** What a caller may do. */
export interface Access {
  readonly token: string;
  /** What is read with the token; undefined: the list of frames. */
  readonly shared?: string;
}

export interface EndingAccess extends Access {
  /** How it ends; a sentence. */
  readonly how: string;
  /** Ends it. Gives the time from which on it may be refused, and that from which on it must be, in time. */
  end(): Promise<{ readonly mayAt: number; readonly mustAt: number }>;
}

/** Makes one that all servers know. */
export type MakeAccess = (servers: ClosedServers, operator: string, random: Random) => Promise<EndingAccess>;

let made = 0;

/** Every way in which an access ends. */
export const endings: readonly MakeAccess[] = [
  async (servers, operator, random) => {
    const { token, record } = await servers.makeToken({ role: 'write' });
    const { url } = random.pick(servers.all);
    return { how: 'a token is revoked', token, end: request(url, 'DELETE', `/tokens/${record.id}`, operator) };
  },
  async (servers) => {
    const { token, record } = await servers.makeToken({ role: 'write' });
    const revoke = async (): Promise<void> => {
      promised(await servers.records.revokeToken(record.id), 'a token is revoked in the directory');
    };
    return { how: 'a token is revoked in the directory', token, end: timed(revoke) };
  },
  async (servers, operator, random) => {
    const { token, record } = await servers.makeToken({ role: 'write' });
    const { url } = random.pick(servers.all);
    const target = `/tokens/${record.id}/rotate`;
    return { how: 'a token is rotated', token, end: request(url, 'POST', target, operator, '{"overlap":"0s"}') };
  },
  async (servers, _operator, random) => {
    const expiresAt = Date.now() + random.between(2500, 4000);
    const { token } = await servers.makeToken({ role: 'write', expiresAt });
    const at = performance.now() + expiresAt - Date.now();
    // The clock of the token and ours need not have the same grain.
    return { how: 'a token expires', token, end: async () => ({ mayAt: at - 50, mustAt: at }) };
  },
  async (servers, operator, random) => {
    const tenant = `t${++made}`;
    await servers.makeTenant(tenant);
    const { token } = await servers.makeToken({ role: 'write', tenant });
    const [{ url }, other] = [random.pick(servers.all), random.pick(servers.all)];
    const isReplaced = random.chance(0.5);
    const remove = request(url, 'DELETE', `/tenants/${tenant}`, operator);
    const end: EndingAccess['end'] = async () => {
      const times = await remove();
      // One that is made anew under the name is another tenant.
      if (isReplaced) await makeAgain(other, tenant, operator);
      return times;
    };
    return { how: 'a tenant is removed', token, end };
  },
  async (servers, _operator, random) => {
    const { url, shared, token, owner, reader } = await makeShare(servers, random);
    const target = `/handles/trades/shares/${reader}`;
    return { how: 'a share is ended', token, shared, end: request(url, 'DELETE', target, owner) };
  },
  async (servers, _operator, random) => {
    const { url, shared, token, owner } = await makeShare(servers, random);
    const end = request(url, 'DELETE', '/handles/trades', owner);
    return { how: 'a shared frame is dropped', token, shared, end };
  },
];

async function makeShare(servers: ClosedServers, random: Random) {
  const name = `t${++made}`;
  const [owner, reader] = [`${name}-owner`, `${name}-reader`];
  for (const tenant of [owner, reader]) await servers.makeTenant(tenant);
  const { token } = await servers.makeToken({ role: 'read', tenant: reader });
  const { token: ownerToken } = await servers.makeToken({ role: 'admin', tenant: owner });
  const { url } = random.pick(servers.all);
  const headers = bearer(ownerToken);
  await ask(`${url}/imp?name=trades`, { method: 'POST', headers, body: 'a\n1\n' });
  await ask(`${url}/handles/trades/shares/${reader}`, { method: 'PUT', headers });
  const shared = `${owner}/trades`;
  for (const server of servers.all) {
    await until('a share is known', 10_000, async () => {
      const target = `${server.url}/exec?handle=${shared}&fmt=json`;
      return (await ask(target, { headers: bearer(token) })).status === 200;
    });
  }
  return { url, shared, token, owner: ownerToken, reader };
}

/** The server may not know yet that it is gone. */
async function makeAgain({ url }: SpawnedFramehold, tenant: string, operator: string): Promise<void> {
  const options = { method: 'POST', headers: bearer(operator), body: JSON.stringify({ name: tenant }) };
  await until('a tenant is made again', 5000, async () => (await ask(`${url}/tenants`, options)).status === 200);
}

function timed(act: () => Promise<unknown>): EndingAccess['end'] {
  return async () => {
    const mayAt = performance.now();
    await act();
    return { mayAt, mustAt: performance.now() };
  };
}

function request(url: string, method: string, target: string, token: string, body?: string): EndingAccess['end'] {
  return timed(async () => {
    const options = { method, headers: bearer(token), ...(body !== undefined && { body }) };
    const answer = await ask(url + target, options);
    promised(answer.status === 200, `${method} ${target} is done`, answer.text);
  });
}

/** A client of one server that shows the same credential again and again. */
export interface AccessClient extends Disposable {
  /** Whether the access works. Rejects where the answer is neither what was asked for nor the refusal. */
  works(): Promise<boolean>;
}

export function httpClient({ url }: SpawnedFramehold, { token, shared }: Access): AccessClient {
  const connection = new Connection(url);
  const target = shared === undefined ? '/handles' : `/exec?handle=${shared}&fmt=json`;
  return {
    works: async () => {
      const answer = await connection.ask(target, { headers: bearer(token) });
      if (answer.status === 200) return true;
      if (answer.status === (shared === undefined ? 401 : 404)) return false;
      throw new BrokenPromise(`GET ${target} answers ${answer.status}: ${answer.text}`);
    },
    [Symbol.dispose]: () => connection[Symbol.dispose](),
  };
}

export function flightClient({ grpcPort }: SpawnedFramehold, { token, shared }: Access): AccessClient {
  const client = new FlightClient(grpcPort, bearer(token));
  return {
    works: async () => {
      const answer = await (shared === undefined ? client.list() : client.get(shared));
      if (answer.status.code === status.OK) return true;
      if (answer.status.code === (shared === undefined ? status.UNAUTHENTICATED : status.NOT_FOUND)) return false;
      throw new BrokenPromise(`Flight answers ${answer.status.code}: ${answer.status.details}`);
    },
    [Symbol.dispose]: () => client[Symbol.dispose](),
  };
}
