import { gzipSync } from 'node:zlib';
import { status } from '@grpc/grpc-js';
import { batchMessage, type FlatObject, i8, i32, schemaMessage } from '../../support/arrow-stream-writer.ts';
import { type FieldValue, proto } from '../../support/flight-sql-client.ts';
import { spawnFramehold } from '../../support/spawned-framehold.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { promised, type Scenario, type Trial } from '../harness/scenario.ts';
import { putCanary } from './canary.ts';
import { doPutPath } from './good-calls.ts';
import { data, grpcHeaders, headerBlock, headers, uint32 } from './http2-frames.ts';
import { partsOf } from './mutated-arrow.ts';
import { MemoryWatch, megabytes } from './process-family.ts';
import { framed, type RawAnswer, RawCalls } from './raw-calls.ts';
import { RawConnection } from './raw-connection.ts';

const doGet = '/arrow.flight.protocol.FlightService/DoGet';
const refusals: readonly (number | undefined)[] = [
  status.INVALID_ARGUMENT,
  status.RESOURCE_EXHAUSTED,
  status.UNIMPLEMENTED,
];
const maxGrowthBytes = 64e6;
const bombBytes = 300e6;

/** I5 over gRPC: messages that are small on the wire and large, or said to be large, behind it. */
export const messageBombs: Scenario = {
  id: 'I5-GRPC',
  promise: 'a message that unpacks to much more, or announces more than it brings, is refused and takes no memory',
  rounds: { ci: 1, release: 50 },
  secondsPerRound: 20,
  async run({ rounds }: Trial) {
    await using directory = await temporaryDirectory();
    await using server = await spawnFramehold({ dataDir: directory.path });
    const canary = await putCanary(server);
    const bomb = gzipSync(Buffer.alloc(bombBytes));
    using calls = new RawCalls(server.grpcPort);
    let refused = 0;
    const isRefused = (answer: RawAnswer, what: string): void => {
      const isWithout = what.includes('unannounced') && answer.status === status.INTERNAL;
      promised(refusals.includes(answer.status) || isWithout, `${what} is refused`, { ...answer, body: undefined });
      refused++;
    };
    const throwAll = async (): Promise<void> => {
      for (const path of [doGet, doPutPath, '/grpc.health.v1.Health/Check']) {
        for (const encoding of ['gzip', 'deflate', 'zstd', 'br', 'snappy']) {
          const packed = Buffer.concat([Uint8Array.of(1), uint32(bomb.length), bomb]);
          isRefused(await calls.send(path, packed, { 'grpc-encoding': encoding }), `${path} packed by ${encoding}`);
        }
        const packed = Buffer.concat([Uint8Array.of(1), uint32(bomb.length), bomb]);
        isRefused(await calls.send(path, packed), `${path} packed, but unannounced`);
        isRefused(
          await calls.send(path, packed, { 'grpc-encoding': 'identity' }),
          `${path} packed by unannounced identity`,
        );
        const lie = Buffer.concat([Uint8Array.of(0), uint32(0xffff_ffff), Buffer.alloc(1000)]);
        isRefused(await calls.send(path, lie), `${path} that announces four gigabytes`);
      }
      for (const path of [doGet, '/grpc.health.v1.Health/Check', '/arrow.flight.protocol.FlightService/Handshake']) {
        isRefused(await calls.send(path, framed(Buffer.alloc(5 * 2 ** 20))), `${path} over the limit`);
      }
      const announced = Buffer.concat([Uint8Array.of(0), uint32(256 * 2 ** 20), Buffer.alloc(1000)]);
      isRefused(await calls.send(doPutPath, announced), 'an upload that announces more than it brings');
      for (const claimed of [1e3, 2 ** 31, 2 ** 40, -2]) {
        isRefused(
          await calls.send(doPutPath, uploadOf(compressedBatch(claimed))),
          `a batch that unpacks to ${claimed}`,
        );
      }
      for (const claimed of [2 ** 29, 2 ** 31, 2 ** 40]) {
        isRefused(
          await calls.send(doPutPath, uploadOf(lyingBatch(claimed))),
          `a batch of ${claimed} values that are not there`,
        );
      }
      await sendInPieces(server.grpcPort);
    };
    // Server and workers are as large as they are after work, and not as they start.
    await throwAll();
    using memory = new MemoryWatch(server.pid, 30);
    for (let round = 0; round < rounds; round++) await throwAll();
    const growth = memory.growthBytes;
    promised(growth < maxGrowthBytes, `memory grows by less than ${megabytes(maxGrowthBytes)} MB`, growth);
    await canary.check();
    return { refused, 'packed KB': Math.round(bomb.length / 1000), 'peak growth MB': megabytes(growth) };
  },
};

const int32: readonly [number, FlatObject] = [2, { 0: i32(32), 1: i8(1) }];

/** Its body is said to be of zstd, and to be of so many bytes. */
function compressedBatch(claimed: number): Uint8Array {
  const length = Buffer.alloc(8);
  length.writeBigInt64LE(BigInt(claimed));
  const values = Buffer.concat([length, Buffer.from('28b52ffd', 'hex'), Buffer.alloc(20)]);
  return batchMessage({ rows: 4, nodes: [[4, 0]], buffers: [new Uint8Array(0), values] }, { 3: { 0: i8(1) } });
}

function lyingBatch(claimed: number): Uint8Array {
  return batchMessage({ rows: claimed, nodes: [[claimed, 0]], buffers: [new Uint8Array(0), new Uint8Array(16)] });
}

function uploadOf(batch: Uint8Array): Buffer {
  const [schema, values] = [schemaMessage([{ name: 'a', type: int32 }]), batch].map(partsOf);
  const first: FieldValue[] = [
    [1, proto([1, 1], [3, 'bomb'])],
    [2, schema?.header ?? ''],
  ];
  return framed(proto(...first), proto([2, values?.header ?? ''], [1000, values?.body ?? '']));
}

/** Twice as large as pieces must be on the average: kept as they come, they would take many times their size. */
async function sendInPieces(port: number): Promise<void> {
  using connection = RawConnection.open(port);
  const announced = Buffer.concat([Uint8Array.of(0), uint32(4 * 2 ** 20)]);
  connection.write(headers(1, headerBlock(grpcHeaders(doGet))), data(1, announced));
  const many = Buffer.concat(Array.from({ length: 2500 }, () => data(1, Buffer.alloc(32))));
  await connection.flood(
    Array.from({ length: 50 }, () => many),
    performance.now() + 60_000,
  );
  // The answer to the ping comes behind all of it.
  promised(await connection.pings(60_000), 'the server has read what was sent');
}
