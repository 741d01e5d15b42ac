import { setTimeout as delay } from 'node:timers/promises';
import { status } from '@grpc/grpc-js';
import { FlightClient } from '../../support/flight-client.ts';
import { promised } from '../harness/scenario.ts';

export interface Seen {
  readonly calls: number;
  readonly slowestMs: number;
  readonly medianMs: number;
}

/** Someone who reads the canary again and again over a connection of its own, whatever others do meanwhile. */
export class OrdinaryClient {
  readonly #client: FlightClient;
  readonly #times: number[] = [];

  private constructor(port: number) {
    this.#client = new FlightClient(port);
  }

  /** Calls as long as the task runs, and says what it saw. Rejects where a call fails. */
  static async during(port: number, task: (client: OrdinaryClient) => Promise<void>): Promise<Seen> {
    const client = new OrdinaryClient(port);
    try {
      await client.calls(1);
      client.#times.length = 0;
      let isOver = false;
      const calling = (async () => {
        while (!isOver) {
          await client.calls(1);
          await delay(10);
        }
      })();
      const ending = task(client).finally(() => {
        isOver = true;
      });
      await Promise.all([calling, ending]);
      const sorted = client.#times.toSorted((one, other) => one - other);
      return { calls: sorted.length, slowestMs: sorted.at(-1) ?? 0, medianMs: sorted[sorted.length >> 1] ?? 0 };
    } finally {
      client.#client[Symbol.dispose]();
    }
  }

  async calls(count: number): Promise<void> {
    for (let call = 0; call < count; call++) {
      const startedAt = performance.now();
      const answer = await this.#client.get('canary');
      promised(answer.status.code === status.OK, 'an ordinary call is answered', answer.status.details);
      this.#times.push(performance.now() - startedAt);
    }
  }
}
