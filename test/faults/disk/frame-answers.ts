import { FlightClient } from '../../support/flight-client.ts';
import { type Answer, ask } from '../../support/http-client.ts';
import type { Address } from '../harness/doors.ts';

/** What a way of reading gave: rows or a file as text, with the version where it is told, or the code of an error. */
export type FrameAnswer =
  | { readonly content: string; readonly version: string | undefined }
  /** `cut`: the answer broke off, so that nobody takes it for whole. */
  | { readonly error: string };

/** Every way to read a frame. */
export const readings = {
  exec: ({ url }, handle) => overHttp(`${url}/exec?handle=${handle}&fmt=json&limit=1,`),
  execPage: ({ url }, handle) => overHttp(`${url}/exec?handle=${handle}&fmt=json&limit=120,160`),
  csv: ({ url }, handle) => overHttp(`${url}/exp?handle=${handle}&fmt=csv`),
  parquet: ({ url }, handle) => overHttp(`${url}/exp?handle=${handle}&fmt=parquet`),
  sql: ({ url }, handle) => overHttp(`${url}/exec?query=select+*+from+${handle}&engine=local&fmt=json`),
  doGet: async ({ grpcPort }, handle) => {
    using client = new FlightClient(grpcPort);
    const answer = await client.get(handle);
    if (answer.status.code !== 0) return { error: answer.code ?? `gRPC ${answer.status.code}` };
    const hashed = answer.messages.map(({ dataHeader, dataBody }) => [dataHeader, dataBody].map(hex).join());
    return { content: hashed.join('\n'), version: undefined };
  },
} as const satisfies Record<string, (to: Address, handle: string) => Promise<FrameAnswer>>;

export type Reading = keyof typeof readings;

export const allReadings = Object.keys(readings) as Reading[];

function hex(bytes: Uint8Array | undefined): string {
  return Buffer.from(bytes ?? []).toString('latin1');
}

async function overHttp(url: string): Promise<FrameAnswer> {
  let answer: Answer;
  try {
    answer = await ask(url);
  } catch (error) {
    if ((error as { code?: string }).code === 'ECONNREFUSED') throw error;
    return { error: 'cut' };
  }
  if (answer.status !== 200) return { error: String(answer.json().code) };
  return { content: answer.body.toString('latin1'), version: answer.headers.etag };
}
