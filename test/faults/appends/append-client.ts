import { byPath, flightDataOf, gather } from '../../support/flight-client.ts';
import { FlightSqlClient } from '../../support/flight-sql-client.ts';
import { type Address, grpcOutcome, outcomeOf } from '../harness/doors.ts';
import type { Outcome } from '../harness/ledger.ts';
import { promised } from '../harness/scenario.ts';
import { Connection } from '../load/connection.ts';
import { type AppendKey, arrowOf, csvOf, insertOf, linesOf } from './appended-rows.ts';

export const appendDoors = ['imp', 'write', 'doPut', 'insert'] as const;

export type AppendDoor = (typeof appendDoors)[number];

export interface ProducerHeaders {
  readonly 'producer-id': string;
  readonly 'producer-epoch': string;
  readonly 'producer-seq': string;
}

const ackByBatch = Buffer.from(JSON.stringify({ mode: 'append', ack: 'batch' }));

interface Batch {
  readonly key: AppendKey;
  readonly end: (outcome: Outcome) => void;
}

/** A client of one server, which appends to a frame through any door. */
export class AppendClient implements Disposable {
  readonly #http: Connection;
  readonly #flight: FlightSqlClient;

  constructor({ url, grpcPort }: Address) {
    this.#http = new Connection(url);
    this.#flight = new FlightSqlClient(grpcPort);
  }

  /** `producer` is not for INSERT, whose headers are those of the connection. */
  async append(door: AppendDoor, handle: string, key: AppendKey, producer?: ProducerHeaders): Promise<Outcome> {
    const headers = { ...producer };
    switch (door) {
      case 'imp': {
        const target = `/imp?name=${handle}&append=true&fmt=json&format=csv`;
        return outcomeOf(this.#http.ask(target, { method: 'POST', body: csvOf(key), headers }));
      }
      case 'write':
        return outcomeOf(this.#http.ask('/write', { method: 'POST', body: linesOf(handle, key), headers }));
      case 'doPut': {
        const options = { appMetadata: { mode: 'append', ack: 'batch' }, headers };
        const { status, code } = await this.#flight.flight.put(byPath(handle), arrowOf(key), options);
        return grpcOutcome(status.code, code);
      }
      case 'insert':
        return this.#insert(insertOf(handle, key));
      default:
        return door satisfies never;
    }
  }

  /** Appends batches in one call, several under way at a time, until `next` gives none. Each has its own answer. */
  async appendBatches(handle: string, atOnce: number, next: () => Batch | undefined): Promise<void> {
    const call = this.#flight.flight.openPut();
    const answer = gather(call);
    const underWay: Batch[] = [];
    let isEnded = false;
    const ended = answer.then(() => {
      isEnded = true;
    });
    const anAnswer = (): Promise<unknown> => new Promise((resolve) => call.once('data', resolve));
    call.on('data', () => underWay.shift()?.end('acknowledged'));
    for (let isFirst = true; !isEnded; isFirst = false) {
      const batch = next();
      if (batch === undefined) break;
      const [schema, data] = flightDataOf(arrowOf(batch.key));
      underWay.push(batch);
      if (isFirst) call.write({ ...schema, flightDescriptor: byPath(handle), appMetadata: ackByBatch });
      call.write({ ...data });
      while (underWay.length >= atOnce && !isEnded) await Promise.race([anAnswer(), ended]);
    }
    call.end();
    const { status, code } = await answer;
    const isAll = status.code !== 0 || underWay.length === 0;
    promised(isAll, 'a call that ends well has acknowledged every batch', underWay.length);
    for (const [index, { end }] of underWay.entries()) end(index === 0 ? grpcOutcome(status.code, code) : 'unknown');
  }

  async flush(handle: string): Promise<{ readonly status: number; readonly text: string }> {
    return this.#http.ask(`/handles/${handle}/flush`, { method: 'POST' });
  }

  async #insert(sql: string): Promise<Outcome> {
    try {
      await this.#flight.update('CommandStatementUpdate', [[1, sql]]);
      return 'acknowledged';
    } catch (error) {
      const { status, code } = error as { status?: number; code?: string };
      if (status === undefined) throw error;
      return grpcOutcome(status, code);
    }
  }

  [Symbol.dispose](): void {
    this.#http[Symbol.dispose]();
    this.#flight[Symbol.dispose]();
  }
}
