import { status } from '@grpc/grpc-js';
import { tableToIPC } from 'apache-arrow';
import { flightDataOf } from '../../support/flight-client.ts';
import { any, bufferAt, type FieldValue, FlightSqlClient, fieldsOf, proto } from '../../support/flight-sql-client.ts';
import { spawnFramehold } from '../../support/spawned-framehold.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { promised, type Scenario, type Trial } from '../harness/scenario.ts';
import { putCanary } from './canary.ts';
import { doPutPath, smallTable } from './good-calls.ts';
import { comesTrue, familyBytes, filesReturnTo, megabytes, openFiles } from './process-family.ts';
import { framed, messagesIn, type RawAnswer, RawCalls } from './raw-calls.ts';

const service = '/arrow.flight.protocol.FlightService/';
const atOnce = 8;
/** `docs/reference/grpc.md`: prepared statements are kept, 10,000 at most. */
const maxStatements = 10_000;
const maxGrowthBytes = 200e6;
const warmUp = 30;

/** Clients that begin and never end: statements, transactions, sessions, queries and tickets that nobody comes back for. */
export const abandonedWork: Scenario = {
  id: 'O3-GRPC',
  promise: 'statements, transactions, sessions and queries that clients leave behind take bounded memory',
  rounds: { ci: 25, release: 30_000 },
  secondsPerRound: 0.5,
  async run({ rounds, random, progress }: Trial) {
    await using directory = await temporaryDirectory();
    await using server = await spawnFramehold({ dataDir: directory.path });
    const canary = await putCanary(server);
    using calls = new RawCalls(server.grpcPort);
    const done = (answer: RawAnswer): Buffer => {
      promised(answer.status === status.OK, 'who begins is answered', { ...answer, body: undefined });
      return messagesIn(answer.body)[0] ?? Buffer.alloc(0);
    };
    const action = async (type: string, body: Uint8Array): Promise<Buffer> =>
      bufferAt(fieldsOf(done(await calls.send(`${service}DoAction`, framed(proto([1, type], [2, body]))))), 1);
    const prepare = async (sql: string): Promise<Buffer> => {
      const packed = await action('CreatePreparedStatement', any('ActionCreatePreparedStatementRequest', [1, sql]));
      return bufferAt(fieldsOf(bufferAt(fieldsOf(packed), 2)), 1);
    };
    const bind = async (handle: Buffer): Promise<void> => {
      const command = proto([1, 2], [2, any('CommandPreparedStatementQuery', [1, handle])]);
      const messages = flightDataOf(tableToIPC(smallTable, 'stream')).map(({ dataHeader, dataBody }, index) => {
        const first: FieldValue[] = index === 0 ? [[1, command]] : [];
        return proto(...first, [2, dataHeader], [1000, dataBody]);
      });
      done(await calls.send(doPutPath, framed(...messages)));
    };
    const option = proto([1, 'catalog'], [2, proto([1, 'framehold'])]);
    const abandon = async (round: number): Promise<void> => {
      await bind(await prepare(`select ? as a, ? as b, ? as c, ${round} as round, '${'x'.repeat(2000)}' as text`));
      await action('BeginTransaction', any('ActionBeginTransactionRequest'));
      await action('SetSessionOptions', proto([1, option]));
      const query = any('CommandStatementQuery', [1, `select * from canary where id > ${round}`]);
      const info = done(await calls.send(`${service}GetFlightInfo`, framed(proto([1, 2], [2, query]))));
      await action('CancelFlightInfo', proto([1, info]));
    };

    const handle = await prepare('select 41 + 1 as answer');
    // Processes that have worked once are as large as they get.
    for (let round = 0; round < warmUp; round++) await abandon(-round - 1);
    await halfRead(server.grpcPort, 10, 4);
    const before = { bytes: familyBytes(server.pid), files: openFiles(server.pid) };
    let next = 0;
    const abandoning = async (): Promise<void> => {
      for (let round = next++; round < rounds; round = next++) {
        await abandon(round);
        if (round % 1000 === 999) progress(`${round + 1} of each left behind`);
      }
    };
    await Promise.all(Array.from({ length: atOnce }, abandoning));
    await halfRead(server.grpcPort, Math.min(rounds, 200), random.between(2, 4));

    await filesReturnTo(server.pid, before.files, 20_000);
    await comesTrue(() => familyBytes(server.pid) < before.bytes + maxGrowthBytes, 20_000);
    const growth = familyBytes(server.pid) - before.bytes;
    promised(growth < maxGrowthBytes, `memory has grown by less than ${megabytes(maxGrowthBytes)} MB`, growth);
    using client = new FlightSqlClient(server.grpcPort);
    const known = await client.execute(handle).then(
      () => true,
      () => false,
    );
    promised(
      known === rounds + warmUp + 1 <= maxStatements,
      'the statement that nobody used for longest goes first',
      known,
    );
    promised((await client.query('select 1 as one')).length === 1, 'a query is answered');
    await canary.check();
    promised(!/"level":"error"/.test(server.stderr()), 'nothing unforeseen is logged', server.stderr().slice(-2000));
    return { 'of each': rounds, 'growth MB': megabytes(growth), 'growth KB each': Math.round(growth / rounds / 1000) };
  },
};

/** Queries that are begun, read a little and cancelled. */
async function halfRead(port: number, count: number, readersAtOnce: number): Promise<void> {
  using client = new FlightSqlClient(port);
  const one = async (): Promise<void> => {
    const call = client.flight.openGet("select range as id, repeat('x', 500) as text from range(2000000)");
    await new Promise<void>((resolve) => {
      call.once('data', () => resolve());
      call.once('status', () => resolve());
    });
    call.cancel();
    await new Promise<void>((resolve) => {
      call.once('status', () => resolve());
      call.once('end', () => resolve());
      call.once('error', () => resolve());
    });
  };
  for (let left = count; left > 0; left -= readersAtOnce) {
    await Promise.all(Array.from({ length: Math.min(left, readersAtOnce) }, one));
  }
}
