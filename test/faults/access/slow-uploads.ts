import { request } from 'node:http';
import { status } from '@grpc/grpc-js';
import { tableFromArrays, tableToIPC } from 'apache-arrow';
import { byPath, FlightClient, flightDataOf, gather } from '../../support/flight-client.ts';
import type { SpawnedFramehold } from '../../support/spawned-framehold.ts';
import { bearer } from './closed-servers.ts';

const everyMs = 50;
const [schema, batch] = flightDataOf(tableToIPC(tableFromArrays({ a: [1] }), 'stream'));

interface Ended {
  /** For its credential. */
  readonly isRefused: boolean;
  readonly answer: string;
}

/** A request that its client would never end. */
export interface SlowUpload extends Disposable {
  /** Undefined while it is under way. */
  ended: Ended | undefined;
}

export function uploadOverHttp({ url }: SpawnedFramehold, token: string): SlowUpload {
  const outgoing = request(`${url}/imp?name=slow`, { method: 'POST', agent: false, headers: bearer(token) });
  outgoing.write('a\n');
  const timer = setInterval(() => outgoing.write('1\n'), everyMs);
  const stop = (): void => {
    clearInterval(timer);
    outgoing.destroy();
  };
  const upload: SlowUpload = { ended: undefined, [Symbol.dispose]: stop };
  outgoing.on('response', (incoming) => {
    incoming.resume().on('error', () => {});
    upload.ended = { isRefused: incoming.statusCode === 401, answer: `status ${incoming.statusCode}` };
  });
  // The server closes the connection behind its answer.
  outgoing.on('error', (error) => {
    upload.ended ??= { isRefused: true, answer: String(error) };
    clearInterval(timer);
  });
  return upload;
}

export function uploadOverFlight({ grpcPort }: SpawnedFramehold, token: string): SlowUpload {
  const client = new FlightClient(grpcPort, bearer(token));
  const call = client.openPut();
  call.write({ ...schema, flightDescriptor: byPath('slow') });
  const timer = setInterval(() => call.write({ ...batch }), everyMs);
  const stop = (): void => {
    clearInterval(timer);
    call.cancel();
    client[Symbol.dispose]();
  };
  const upload: SlowUpload = { ended: undefined, [Symbol.dispose]: stop };
  void gather(call).then(({ status: { code, details } }) => {
    upload.ended = { isRefused: code === status.UNAUTHENTICATED, answer: details };
    clearInterval(timer);
  });
  return upload;
}
