import { status } from '@grpc/grpc-js';
import { tableFromIPC, tableToIPC } from 'apache-arrow';
import { byPath, FlightClient, ipcOf } from '../../support/flight-client.ts';
import { bufferAt, type FieldValue, fieldsOf, proto } from '../../support/flight-sql-client.ts';
import { ask } from '../../support/http-client.ts';
import { type SpawnedFramehold, spawnFramehold } from '../../support/spawned-framehold.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import type { Random } from '../harness/random.ts';
import { promised, type Scenario, type Trial } from '../harness/scenario.ts';
import { putCanary } from './canary.ts';
import { doPutPath, type GoodCall, goodCalls, smallTable } from './good-calls.ts';
import { callFrames, preface, settings } from './http2-frames.ts';
import { mutatedArrowStream } from './mutated-arrow.ts';
import { edges, mutatedBytes } from './mutated-bytes.ts';
import { mutatedProtobuf } from './mutated-protobuf.ts';
import { comesTrue, familyBytes, filesReturnTo, megabytes, openFiles } from './process-family.ts';
import { framed, messagesIn, type RawAnswer, RawCalls } from './raw-calls.ts';
import { RawConnection } from './raw-connection.ts';

const callersAtOnce = 12;
/** A connection that broke the rules is cut after some seconds, and there may be 100 of them. */
const connectionsAtOnce = 30;
const shareOfConnections = 0.03;

/** What a caller may be told, whatever it sends. */
const foreseen: ReadonlySet<number | undefined> = new Set([
  status.OK,
  status.INVALID_ARGUMENT,
  status.NOT_FOUND,
  status.ALREADY_EXISTS,
  status.RESOURCE_EXHAUSTED,
  status.FAILED_PRECONDITION,
  status.UNIMPLEMENTED,
  status.OUT_OF_RANGE,
]);
/** gRPC itself asks for this status, in `doc/compression.md`. */
const unannounced = 'a message is marked as compressed, but the request has no grpc-encoding';
const inside =
  /\bat \S+ \(|node_modules|node:internal|\.[jt]s:\d|\/tmp\/|\/dist\/|\.parquet\b|temp\.main|INTERNAL Error|0x[0-9a-f]{8}|undefined|\[object|NaN/;

/** Of DuckDB's processes, as the metrics name them. Those that are not needed any more are ended. */
async function deathsOf(url: string): Promise<string[]> {
  const { text } = await ask(`${url}/metrics`);
  const exits = text.match(/^framehold_duckdb_worker_exits_total\{.*$/gm) ?? [];
  return exits.filter((line) => !line.includes('"not_needed"') && !line.endsWith(' 0'));
}

/** I2: calls that were good, changed in the bytes of their frames, their messages, their fields and their Arrow. */
export const mutatedCalls: Scenario = {
  id: 'I2',
  promise: 'whatever bytes a gRPC client sends, it is told a foreseen status and harms nobody',
  rounds: { ci: 250, release: 200_000 },
  secondsPerRound: 0.03,
  async run({ rounds, random, progress }: Trial) {
    await using directory = await temporaryDirectory();
    await using server = await spawnFramehold({ dataDir: directory.path });
    const canary = await putCanary(server);
    await putVictim(server);
    const good = await goodCalls(server.grpcPort);
    for (const call of good) await checkGood(server, call);
    const before = { files: openFiles(server.pid), bytes: familyBytes(server.pid) };
    const counts = { calls: 0, refused: 0, uploads: 0, kept: 0, connections: 0 };
    const connections = Math.ceil(rounds * shareOfConnections);
    const work = new Countdown(rounds - connections);
    const greetings = new Countdown(connections);
    const attackCalls = async (own: Random): Promise<void> => {
      using calls = new RawCalls(server.grpcPort);
      while (work.takeOne()) {
        if (own.chance(0.4)) await mutateUpload(server, calls, own, counts);
        else await mutateCall(calls, own, own.pick(good), counts);
        promised(!server.hasExited(), 'the server goes on', server.stderr().slice(-2000));
        if (work.left % 2000 === 0)
          progress(`${work.left} left, ${counts.refused} refused, ${counts.kept} frames made`);
      }
    };
    const attackConnections = async (own: Random): Promise<void> => {
      while (greetings.takeOne()) await mutateConnection(server, own, own.pick(good), counts);
    };
    await Promise.all([
      ...Array.from({ length: callersAtOnce }, () => attackCalls(random.fork())),
      ...Array.from({ length: connectionsAtOnce }, () => attackConnections(random.fork())),
    ]);

    await canary.check();
    const died = await deathsOf(server.url);
    promised(died.length === 0, 'no process of the server has died', { died, log: server.stderr().slice(-2000) });
    promised(!/"level":"error"/.test(server.stderr()), 'nothing unforeseen is logged', errorsIn(server));
    await filesReturnTo(server.pid, before.files, 20_000);
    await comesTrue(() => familyBytes(server.pid) < before.bytes + maxGrowthBytes, 10_000);
    const growth = familyBytes(server.pid) - before.bytes;
    promised(growth < maxGrowthBytes, `memory has grown by less than ${megabytes(maxGrowthBytes)} MB`, growth);
    promised(counts.kept > 0 && counts.refused > counts.kept, 'there was something to say', counts);
    return { mutations: rounds, ...counts, crashes: 0, 'memory growth MB': megabytes(growth) };
  },
};

const maxGrowthBytes = 500e6;

class Countdown {
  left: number;

  constructor(count: number) {
    this.left = count;
  }

  takeOne(): boolean {
    return this.left-- > 0;
  }
}

type Counts = { calls: number; refused: number; uploads: number; kept: number; connections: number };

/** Every good call must be answered, else its mutations say little. */
async function checkGood({ grpcPort }: SpawnedFramehold, { path, messages }: GoodCall): Promise<void> {
  using calls = new RawCalls(grpcPort);
  const answer = await calls.send(path, framed(...messages));
  const expected = /PollFlightInfo|DoExchange/.test(path) ? status.UNIMPLEMENTED : status.OK;
  const isMade = answer.code === 'handle_not_found' || answer.code === 'handle_gone' || answer.code === 'not_found';
  promised(answer.status === expected || isMade, `${path} works when nobody meddles with it`, answer);
}

async function mutateCall(
  calls: RawCalls,
  random: Random,
  { path, messages }: GoodCall,
  counts: Counts,
): Promise<void> {
  const changed = messages.map((message) => (random.chance(0.8) ? mutatedProtobuf(random, message) : message));
  const body = random.chance(0.2) ? mutatedFraming(random, framed(...changed)) : framed(...changed);
  const headers = random.chance(0.1) ? { 'grpc-encoding': random.pick(['gzip', 'identity', 'deflate', 'x', '']) } : {};
  counts.calls++;
  check(await calls.send(path, body, headers), counts, { path, body });
}

function mutatedFraming(random: Random, body: Buffer): Buffer {
  const out = Buffer.from(body);
  switch (random.between(0, 5)) {
    case 0:
      out[0] = random.between(1, 255);
      return out;
    case 1:
      if (out.length >= 5) out.writeUInt32BE(Number(BigInt.asUintN(32, random.pick(edges))), 1);
      return out;
    case 2:
      return out.subarray(0, random.between(0, out.length));
    case 3:
      return Buffer.concat([out, random.bytes(random.between(1, 20))]);
    case 4:
      return Buffer.concat([out, out]);
    default:
      return mutatedBytes(random, out);
  }
}

/** An Arrow stream with a lie in it, by each of the ways that take one. What became of it must be readable. */
async function mutateUpload(server: SpawnedFramehold, calls: RawCalls, random: Random, counts: Counts): Promise<void> {
  const handle = `upload_${random.between(0, 40)}`;
  const descriptor = proto([1, 1], [3, handle]);
  const messages = mutatedArrowStream(random).map(({ header, body }, index) => {
    const first: FieldValue[] =
      index === 0
        ? [
            [1, descriptor],
            [3, '{"mode":"overwrite"}'],
          ]
        : [];
    return proto(...first, [2, header], ...(body.length === 0 ? [] : [[1000, body] as FieldValue]));
  });
  counts.uploads++;
  const body = framed(...messages);
  const answer = await calls.send(doPutPath, body);
  check(answer, counts, { path: doPutPath, body });
  if (answer.status !== status.OK) return;
  counts.kept++;
  await readFrame(server, calls, random, handle, body);
}

async function readFrame(
  { url }: SpawnedFramehold,
  calls: RawCalls,
  random: Random,
  handle: string,
  body: Buffer,
): Promise<void> {
  const read = async (ticket: string): Promise<number | undefined> => {
    const answer = await calls.send('/arrow.flight.protocol.FlightService/DoGet', framed(proto([1, ticket])));
    if (answer.code === 'handle_gone') return undefined;
    promised(answer.status === status.OK, 'what was kept can be read', {
      ticket,
      answer,
      upload: body.toString('base64'),
    });
    const parts = messagesIn(answer.body).map((message) => {
      const fields = fieldsOf(message);
      return { dataHeader: bufferAt(fields, 2), dataBody: bufferAt(fields, 1000) };
    });
    const table = tableFromIPC(ipcOf(parts));
    return table.numRows;
  };
  const rows = await read(handle);
  if (!random.chance(0.2)) return;
  const answer = await ask(`${url}/exec?handle=${handle}&fmt=json&limit=1,10`);
  promised(answer.status === 200, 'what was kept can be read over HTTP', {
    text: answer.text,
    upload: body.toString('base64'),
  });
  promised(rows === undefined || rows >= 0, 'a frame has rows', rows);
}

/** A whole connection, its greeting good, the rest not. */
async function mutateConnection(
  { grpcPort }: SpawnedFramehold,
  random: Random,
  { path, messages }: GoodCall,
  counts: Counts,
): Promise<void> {
  using connection = new RawConnection(grpcPort, { acknowledges: false });
  const good = Buffer.concat([settings(), callFrames(1, path, framed(...messages))]);
  const bytes = mutatedBytes(random, good);
  connection.write(preface, bytes);
  connection.socket.end();
  counts.connections++;
  promised(await connection.closesWithin(10_000), 'a connection that its client has ended is closed', {
    bytes: bytes.toString('base64'),
    received: [...connection.received],
  });
}

function check(answer: RawAnswer, counts: Counts, call: { readonly path: string; readonly body: Buffer }): void {
  const given = { ...answer, body: undefined, path: call.path, request: call.body.toString('base64') };
  promised(answer.httpStatus === 200, 'a call is answered', given);
  const isForeseen =
    foreseen.has(answer.status) || (answer.status === status.INTERNAL && answer.message === unannounced);
  promised(isForeseen, 'only foreseen statuses are told', given);
  promised(!inside.test(answer.message), 'nothing of the inside is told', given);
  if (answer.status !== status.OK) counts.refused++;
}

async function putVictim({ grpcPort }: SpawnedFramehold): Promise<void> {
  using client = new FlightClient(grpcPort);
  for (const handle of ['victim', 'written']) {
    const { status: put } = await client.put(byPath(handle), tableToIPC(smallTable, 'stream'));
    promised(put.code === 0, `${handle} is put`, put.details);
  }
}

function errorsIn(server: SpawnedFramehold): string[] {
  return server
    .stderr()
    .split('\n')
    .filter((line) => line.includes('"level":"error"'))
    .slice(0, 5);
}
