import type { Contender, Reading } from './bench-case.ts';
import { runLoad } from './load.ts';
import type { LoadResult } from './load-spec.ts';
import { type Usage, watch } from './process-tree.ts';
import type { HttpServer } from './server-process.ts';

export interface LoadContenderOptions {
  readonly name: string;
  /** Asked for in every round: a case may replace the server. */
  readonly server: (round: number) => HttpServer;
  readonly connections: number;
  readonly paths: (round: number) => readonly string[];
  /** Where there are some, requests are POSTs with one of them, in turn. */
  readonly bodies?: readonly string[];
  /** The load of one round. */
  readonly until: { readonly ms: number } | { readonly requests: number };
  readonly value: (result: LoadResult) => number;
  readonly beforeRound?: (round: number) => Promise<void>;
}

/** A server that is measured under load. */
export function loadContender(options: LoadContenderOptions): Contender {
  const { name, connections, bodies, until, beforeRound } = options;
  return {
    name,
    ...(beforeRound !== undefined && { beforeRound }),
    async measure(round) {
      const { host, port, pid, credentials, ca } = options.server(round);
      const spec = { host, port, credentials, ca, connections, paths: options.paths(round), bodies, until };
      const { result, usage } = await watch(pid, () => runLoad(spec));
      return loadReading(result, usage, options.value(result));
    },
  };
}

export function loadReading(result: LoadResult, usage: Usage, value: number): Reading {
  const { bySecond, ...details } = result;
  return { value, usage, details, bySecond };
}

export function requestsPerSecond({ requests, seconds }: LoadResult): number {
  return requests / seconds;
}

/** Unmeasured load: it warms compilers and caches of the server. */
export async function warmUp(
  { host, port, credentials, ca }: HttpServer,
  paths: readonly string[],
  connections: number,
  ms: number,
): Promise<void> {
  await runLoad({ host, port, credentials, ca, connections, paths, until: { ms } });
}
