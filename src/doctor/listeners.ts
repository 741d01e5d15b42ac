import { createServer, type Server } from 'node:net';
import { formatAddress, isWildcard, type ListenAddress } from '../config/listen-address.ts';
import { type Finding, notOk, ok } from './finding.ts';
import { type PortOwner, portOwner } from './port-owner.ts';
import { answersProbes, frameholdAt } from './running-framehold.ts';

export type ListenerName = 'http' | 'grpc' | 'health' | 'metrics';

export interface Listener {
  readonly name: ListenerName;
  readonly address: ListenAddress;
  /** The setting for another address. */
  readonly setting: string;
}

/** The result of the attempt to listen. */
export interface ListenerFacts extends Listener {
  /** An errno name where it failed. */
  readonly problem: string | undefined;
  readonly owner?: PortOwner | undefined;
  /** `Framehold 0.1.0` where one answers there. */
  readonly framehold?: string | undefined;
  /** Another of our listeners has this port. */
  readonly twin?: ListenerName | undefined;
}

/** Listens on all of them at once, as the server does, and stops again. */
export async function tryListeners(
  listeners: readonly Listener[],
  options: { readonly signal: AbortSignal },
): Promise<ListenerFacts[]> {
  const bound: { readonly name: ListenerName; readonly port: number; readonly server: Server }[] = [];
  const tried: ListenerFacts[] = [];
  try {
    for (const listener of listeners) {
      const { name, address } = listener;
      // A client that connects meanwhile would keep it open.
      const server = createServer((socket) => socket.destroy());
      const problem = await listen(server, address);
      if (problem === undefined) bound.push({ name, port: address.port, server });
      const isTaken = problem === 'EADDRINUSE';
      const twin = isTaken ? bound.find(({ port }) => port === address.port)?.name : undefined;
      tried.push({ ...listener, problem, twin });
    }
  } finally {
    await Promise.all(bound.map(({ server }) => new Promise((resolve) => server.close(resolve))));
  }
  const isTaken = ({ problem, twin }: ListenerFacts): boolean => problem === 'EADDRINUSE' && twin === undefined;
  const http = tried.find((each) => each.name === 'http' && isTaken(each));
  const running = http && (await frameholdAt(reachable(http.address), options));
  const isOurs = async (facts: ListenerFacts, owner: PortOwner | undefined): Promise<boolean> => {
    if (owner?.isFramehold === true || (running !== undefined && facts === http)) return true;
    if (facts.name === 'grpc') return facts.address.port === running?.grpcPort;
    return facts.name !== 'http' && (await answersProbes(reachable(facts.address), options));
  };
  return Promise.all(
    tried.map(async (facts) => {
      if (!isTaken(facts)) return facts;
      const owner = await portOwner(facts.address.port);
      return { ...facts, owner, ...((await isOurs(facts, owner)) && { framehold: running?.name ?? 'Framehold' }) };
    }),
  );
}

function listen(server: Server, { host, port }: ListenAddress): Promise<string | undefined> {
  return new Promise((resolve) => {
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    server.listen({ host, port, exclusive: true }, () => resolve(undefined));
  });
}

function reachable({ host, port }: ListenAddress): ListenAddress {
  return isWildcard(host) ? { host: host === '::' ? '::1' : '127.0.0.1', port } : { host, port };
}

export function judgeListener({ name, address, setting, problem, owner, framehold, twin }: ListenerFacts): Finding {
  const where = formatAddress(address);
  if (problem === undefined)
    return ok(name, address.port === 0 ? `${where}: the system chooses the port` : `${where} is free`);
  const another = `choose another with ${setting}`;
  const fail = (found: string, remedy = another): Finding =>
    notOk('fail', name, found, 'the server does not start', remedy);
  switch (problem) {
    case 'EADDRINUSE': {
      if (twin !== undefined) return fail(`${where} has the port of the ${twin} listener`);
      const by = owner === undefined ? '' : `, ${owner.command} (pid ${owner.pid})`;
      if (framehold !== undefined) {
        const meaning = 'that server runs; a second one on this machine needs another port';
        return notOk('note', name, `${where} is in use by ${framehold}${by}`, meaning, another);
      }
      return fail(`${where} is in use by another program${by}`, `stop that program, or ${another}`);
    }
    case 'EACCES': {
      const rights = 'give Node.js the capability CAP_NET_BIND_SERVICE (systemd: AmbientCapabilities)';
      return fail(`${where} may not be bound by this user`, `choose a port from 1024 with ${setting}, or ${rights}`);
    }
    case 'EADDRNOTAVAIL':
      return fail(`${where} is not an address of this machine`);
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return fail(`${where} has a host name that does not resolve`);
    default:
      return fail(`${where} cannot be bound (${problem})`);
  }
}
