import { setTimeout as delay } from 'node:timers/promises';
import type { SpawnedFramehold } from '../../support/spawned-framehold.ts';
import type { Random } from '../harness/random.ts';
import { promised } from '../harness/scenario.ts';
import { AppendClient, appendDoors } from './append-client.ts';
import type { AppendLedger } from './append-ledger.ts';

const batchesAtOnce = 4;
const batchesPerCall = 25;

export interface LoadOptions {
  readonly ledger: AppendLedger;
  readonly random: Random;
  readonly writers: number;
  /** Those that may be asked now. */
  readonly servers: () => readonly SpawnedFramehold[];
  readonly goesOn: () => boolean;
  /** Whether a flush may fail now. */
  readonly mayFail: () => boolean;
}

/** Makes the frame, with the columns that all doors append to. */
export async function makeFrame(ledger: AppendLedger, server: SpawnedFramehold): Promise<void> {
  using client = new AppendClient(server);
  const append = ledger.begin(0);
  ledger.end(append, await client.append('write', ledger.handle, append));
  promised(append.outcome === 'acknowledged', 'line protocol makes the frame', server.stderr().slice(-1000));
}

/** Writers, each at a door of its own, and a flush after another. */
export class AppendLoad {
  readonly #options: LoadOptions;
  flushes = 0;

  constructor(options: LoadOptions) {
    this.#options = options;
  }

  async run(): Promise<void> {
    const { writers, random } = this.#options;
    const works = Array.from({ length: writers }, (_, writer) => this.#keepAppending(writer, random.fork()));
    await Promise.all([...works, this.#keepFlushing(random.fork())]);
  }

  async #keepAppending(writer: number, random: Random): Promise<void> {
    const { ledger, goesOn } = this.#options;
    const door = appendDoors[writer % appendDoors.length] ?? 'imp';
    using clients = new Clients();
    while (goesOn()) {
      const client = clients.of(this.#pick(random));
      if (client === undefined) {
        await delay(5);
      } else if (door === 'doPut') {
        let left = random.between(1, batchesPerCall);
        await client.appendBatches(ledger.handle, batchesAtOnce, () => {
          if (left-- === 0 || !goesOn()) return undefined;
          const key = ledger.begin(writer);
          return { key, end: (outcome) => ledger.end(key, outcome) };
        });
      } else {
        const append = ledger.begin(writer);
        ledger.end(append, await client.append(door, ledger.handle, append));
        if (append.outcome !== 'acknowledged') await delay(5);
      }
    }
  }

  async #keepFlushing(random: Random): Promise<void> {
    const { ledger, goesOn, mayFail } = this.#options;
    using clients = new Clients();
    while (goesOn()) {
      const server = this.#pick(random);
      const answer = await clients
        .of(server)
        ?.flush(ledger.handle)
        .catch(() => undefined);
      if (answer?.status === 200) this.flushes++;
      else await delay(5);
      const isFine = answer === undefined || answer.status === 200 || answer.status === 503 || mayFail();
      promised(isFine, 'a flush works', `${answer?.text} ${server?.stderr().slice(-2000)}`);
    }
  }

  #pick(random: Random): SpawnedFramehold | undefined {
    const servers = this.#options.servers();
    return servers.length === 0 ? undefined : random.pick(servers);
  }
}

/** One client for each server that was asked. */
export class Clients implements Disposable {
  readonly #clients = new Map<SpawnedFramehold, AppendClient>();

  of(server: SpawnedFramehold | undefined): AppendClient | undefined {
    if (server === undefined) return undefined;
    const client = this.#clients.get(server) ?? new AppendClient(server);
    this.#clients.set(server, client);
    return client;
  }

  [Symbol.dispose](): void {
    for (const client of this.#clients.values()) client[Symbol.dispose]();
  }
}
