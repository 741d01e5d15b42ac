import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import { status } from '@grpc/grpc-js';
import { tableFromIPC } from 'apache-arrow';
import { byPath, FlightClient, flightDataOf, gather, ipcOf } from '../../support/flight-client.ts';
import type { Address } from '../harness/doors.ts';
import type { Operation, Outcome } from '../harness/ledger.ts';
import { rowsWritten } from '../harness/written-rows.ts';

/** A request that the server is known to have begun, and the client's part that is still to come. */
export interface UnderWay {
  readonly kind: string;
  /** Rejects where the answer is not whole. */
  finish(): Promise<void>;
}

export const bigRows = 60_000;
export const bigSql = `select range as id, repeat('x', 100) as text from range(${bigRows})`;

/** Rows on their way to a client that has taken the first of them. */
export async function download(url: string, target: string, isWhole: (body: string) => boolean): Promise<UnderWay> {
  const [response] = (await once(request(url + target, { agent: false }).end(), 'response')) as [IncomingMessage];
  return { kind: 'download', finish: () => finishReading(response, isWhole) };
}

/** SQL whose text comes when it is known that the server listens. */
export async function statement(url: string, sql: string, expected: string): Promise<UnderWay> {
  const { outgoing, response } = await begin(url, 'POST', '/sql');
  outgoing.end(JSON.stringify({ sql }));
  return { kind: 'statement', finish: async () => finishReading(await response, (body) => body.includes(expected)) };
}

/** A file of which half has been sent. */
export async function upload(
  url: string,
  operation: Operation,
  note: (operation: Operation, outcome: Outcome) => void,
): Promise<UnderWay> {
  const lines = rowsWritten(operation.n).map((row) => `${JSON.stringify(row)}\n`);
  const { outgoing, response } = await begin(url, 'POST', `/imp?name=${operation.handle}&format=ndjson&overwrite=true`);
  const half = lines.length >> 1;
  outgoing.write(lines.slice(0, half).join(''));
  const finish = async (): Promise<void> => {
    outgoing.end(lines.slice(half).join(''));
    try {
      await finishReading(await response, (body) => body.includes('"status":"OK"'));
      note(operation, 'acknowledged');
    } catch (error) {
      note(operation, 'unknown');
      throw error;
    }
  };
  return { kind: 'upload', finish };
}

/** Rows over Flight, of which the first have come. */
export async function flightDownload({ grpcPort }: Address, handle: string): Promise<UnderWay> {
  const client = new FlightClient(grpcPort);
  const call = client.openGet(JSON.stringify({ handle }));
  const answer = gather(call);
  await Promise.race([once(call, 'data'), answer]);
  call.pause();
  const finish = async (): Promise<void> => {
    call.resume();
    const { status: end, messages } = await answer;
    client[Symbol.dispose]();
    if (end.code !== status.OK) throw new Error(`DoGet ended with ${end.code}: ${end.details}`);
    if (tableFromIPC(ipcOf(messages)).numRows !== bigRows) throw new Error('DoGet ended before its end');
  };
  return { kind: 'Flight download', finish };
}

/** A put over Flight whose schema the server has. */
export async function flightUpload({ grpcPort }: Address, handle: string, ipc: Uint8Array): Promise<UnderWay> {
  const client = new FlightClient(grpcPort);
  const call = client.openPut();
  const answer = gather(call);
  const [first, ...rest] = flightDataOf(ipc);
  const appMetadata = Buffer.from(JSON.stringify({ mode: 'overwrite' }));
  call.write({ ...first, flightDescriptor: byPath(handle), appMetadata });
  // Frames of one connection come in order: when this is answered, the put has begun.
  await client.actions();
  const finish = async (): Promise<void> => {
    for (const message of rest) call.write(message);
    call.end();
    const { status: end } = await answer;
    client[Symbol.dispose]();
    if (end.code !== status.OK) throw new Error(`DoPut ended with ${end.code}: ${end.details}`);
  };
  return { kind: 'Flight upload', finish };
}

async function begin(url: string, method: string, target: string) {
  const headers = { expect: '100-continue', 'transfer-encoding': 'chunked' };
  const outgoing = request(url + target, { method, headers, agent: new Agent({ maxSockets: 1 }) });
  const response = once(outgoing, 'response').then(([incoming]) => incoming as IncomingMessage);
  response.catch(() => {});
  outgoing.flushHeaders();
  await Promise.race([once(outgoing, 'continue'), response]);
  return { outgoing, response };
}

async function finishReading(response: IncomingMessage, isWhole: (body: string) => boolean): Promise<void> {
  let body = '';
  for await (const piece of response.setEncoding('latin1')) body += piece;
  if (response.statusCode !== 200 || !isWhole(body)) {
    throw new Error(`${response.statusCode} with ${body.length} bytes: ${body.slice(0, 200)}`);
  }
}
