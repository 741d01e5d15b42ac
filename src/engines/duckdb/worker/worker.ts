import { type ConnectOpts, Socket, type SocketConstructorOpts } from 'node:net';
import type { Column } from '@framehold/columns';
import { type Connection, restrictFiles, restrictProcess, Session } from '@framehold/duckdb';
import type { EncodedPieces } from '../../../encoding/row-encoder.ts';
import {
  type CatalogListing,
  type Command,
  dataDescriptor,
  type Job,
  MessageParser,
  messageKind,
  unconfined,
  type WorkerSettings,
} from '../protocol/protocol.ts';
import { AnswerChannel, type LastMessage } from './channel/answer-channel.ts';
import { InputQueue } from './channel/input-queue.ts';
import { JobCancels } from './channel/job-cancels.ts';
import { SharedSlots } from './channel/shared-slots.ts';
import { analyzeSql } from './gate/analyze.ts';
import { IdleMemory } from './idle-memory.ts';
import { createDatabase } from './jobs/create-database-job.ts';
import { readRows } from './jobs/read-job.ts';
import { recode } from './jobs/recode-job.ts';
import { warmFrame } from './jobs/warm-job.ts';
import { writePart } from './jobs/write-job.ts';
import { countChanges } from './parquet/changed-rows.ts';
import { checksumLike } from './parquet/checksum.ts';
import { probe } from './parquet/probe.ts';
import { analyticsTables } from './query/analytics-tables-job.ts';
import { CatalogMirror, mirrorOptions } from './query/catalog-mirror.ts';
import { describeQuery, type QueryContext, runKeptShort, runQuery } from './query/query-job.ts';
import type { ShortResult } from './query/short-query.ts';
import { SqlCatalog } from './query/sql-catalog.ts';
import { wireError } from './wire-error.ts';

/** Memory beyond DuckDB's own limit: Node's heap, our buffers, and allocations of functions that DuckDB does not count. */
const memoryAllowance = 2_000_000_000;
/** Of its memory, for a job that waits for its client. */
const heldShare = 1 / 8;
/** DuckDB forgets an interrupt that arrives before the statement runs, so it is repeated until the job ends. */
const interruptEveryMs = 20;
/** About the capacity of a pipe. */
const readBytes = 256 * 1024;

const settings = JSON.parse(process.argv[2] ?? '{}') as WorkerSettings;
restrictProcess(settings.memoryBytes + memoryAllowance);

// A running query delays a normal exit until its end.
const endNow = (): void => void process.kill(process.pid, 'SIGKILL');
process.on('disconnect', endNow);
// Ctrl-C in a terminal reaches the whole group; the parent decides when its workers end.
process.on('SIGINT', () => {});
process.on('SIGTERM', () => {});

// On opening, DuckDB reads facts of the system, and fails without the right to. With one thread it starts no others.
const isForCallers = settings.sql !== undefined;
const session = new Session({ ...settings, keepsFiles: isForCallers, ...(isForCallers && { threads: 1 }) });
// If opened after the process is restricted, it ends the process.
const mirror = isForCallers ? new Session(mirrorOptions(settings)) : undefined;
const isRestricted = settings.sql !== undefined && restrictFiles(settings.sql, settings.tempDirectory);
const idleMemory = new IdleMemory(mirror === undefined ? [session] : [session, mirror]);
const slots = settings.hasSharedFile ? new SharedSlots() : undefined;
const parser = new MessageParser(messageKind.input);
const receive = (bytes: Buffer): void => {
  for (const message of parser.push(bytes)) {
    if (message.kind === messageKind.slotFree) slots?.release(message.payload.readUInt8(0));
    else if (message.kind === messageKind.job) void run(JSON.parse(message.payload.toString()) as Job, message.turn);
    else input.push(message);
  }
};
// Into the same memory again and again: fresh memory for each read costs more than the read, mostly in garbage collection.
const onread: ConnectOpts['onread'] = {
  buffer: Buffer.allocUnsafeSlow(readBytes),
  callback: (count, bytes) => {
    // Never so far; rows that were written over must not become a frame.
    if (input.holdsBytes) endNow();
    receive(Buffer.from(bytes.buffer, bytes.byteOffset, count));
    return !input.holdsBytes;
  },
};
const sides: SocketConstructorOpts & ConnectOpts = { fd: dataDescriptor, readable: true, writable: true, onread };
const data = new Socket(sides);
const answers = new AnswerChannel(data, slots);
const input = new InputQueue(data);
data.on('error', endNow);
data.on('close', endNow);

const cancels = new JobCancels();
process.on('message', (command: Command) => {
  if (command.kind === 'cancel') cancels.cancel(command.turn);
  else if (command.kind === 'slotFree') slots?.release(command.slot);
  else if (command.kind === 'held') session.limitMemory(command.isHeld ? heldShare : 1);
  else process.send?.('alive');
});
/** Only where this process runs callers' SQL. */
let catalog: SqlCatalog | undefined;
let catalogMirror: CatalogMirror | undefined;

export async function start(): Promise<void> {
  if (settings.sql !== undefined) {
    const connection = session.connect();
    await connection.run(`SET threads = ${settings.threads}`);
    catalog = await SqlCatalog.open(connection, settings.sql);
    if (mirror !== undefined) catalogMirror = await CatalogMirror.open(mirror.connect());
  }
  process.send?.(settings.sql?.isConfined === true && !isRestricted ? unconfined : 'ready');
}

async function run(job: Job, turn: number): Promise<void> {
  idleMemory.begin();
  input.begin(turn);
  const short = job.kind === 'query' && catalog !== undefined ? runKeptShort(catalog, job) : undefined;
  if (short !== undefined) {
    cancels.pass();
    input.begin(turn + 1);
    idleMemory.end();
    return await sendShort(short, turn);
  }
  const abort = new AbortController();
  const connection = (readsCatalogs(job) ? catalogMirror : catalog)?.connection ?? session.connect();
  let repeat: NodeJS.Timeout | undefined;
  cancels.begin(turn, () => {
    if (abort.signal.aborted) return;
    abort.abort();
    connection.interrupt();
    repeat = setInterval(() => connection.interrupt(), interruptEveryMs);
  });
  let answer: LastMessage;
  try {
    abort.signal.throwIfAborted();
    answer = [messageKind.done, await perform(job, connection, abort.signal)];
  } catch (error) {
    const told = wireError(error, abort.signal);
    answer = [messageKind.error, connection.isSpoilt ? { ...told, fatal: true } : told];
  } finally {
    cancels.end();
    clearInterval(repeat);
    if (catalog === undefined) connection[Symbol.dispose]();
  }
  input.begin(turn + 1);
  idleMemory.end();
  await answers.sendEnd(answer, turn);
}

async function sendShort({ columns, pieces, totalRows }: ShortResult, turn: number): Promise<void> {
  await answers.sendColumns(columns, 'follows');
  for (const piece of pieces) await answers.sendRows(piece, 'follows');
  await answers.sendEnd([messageKind.done, { totalRows }], turn);
}

async function perform(job: Job, connection: Connection, signal: AbortSignal): Promise<unknown> {
  const places = readsCatalogs(job) ? [catalog, catalogMirror] : [catalog];
  for (const place of places) await place?.settings.apply('settings' in job ? job.settings : undefined);
  switch (job.kind) {
    case 'analyze':
      return await analyzeSql(queryContext(signal).catalog.connection, job.sql, job.definitions);
    case 'describe':
      return await describeQuery(queryContext(signal, job.listing), job);
    case 'query':
      return await sendResult(runQuery(queryContext(signal, job.listing), job), signal);
    case 'analyticsTables':
      return await analyticsTables(queryContext(signal).catalog);
    case 'probe':
      return await probe(connection, job.path, job);
    case 'countChanges':
      return await countChanges(connection, job);
    case 'hasChecksum': {
      const { checksum } = await checksumLike(job.checksum, job.path, signal);
      return checksum === job.checksum;
    }
    case 'warm':
      return await warmFrame(connection, job, signal);
    case 'createDatabase':
      return await createDatabase(connection, job.path);
    case 'write':
      return await writePart({ connection, signal, input: input.stream(signal), settings }, job);
    case 'recode':
      return await sendResult(recode(input.stream(signal), job), signal);
    case 'read':
      for await (const rows of readRows(connection, job)) {
        signal.throwIfAborted();
        await answers.sendRows(rows);
      }
      return undefined;
    default:
      job satisfies never;
      throw new Error('unreachable');
  }
}

function queryContext(signal: AbortSignal, listing?: CatalogListing): QueryContext {
  if (catalog === undefined || catalogMirror === undefined) throw new Error('this worker runs no SQL of callers');
  const place = listing === undefined ? catalog : catalogMirror.showing(listing, signal);
  return { catalog: place, parameters: catalog.connection, signal, input: input.stream(signal) };
}

function readsCatalogs(job: Job): boolean {
  return (job.kind === 'query' || job.kind === 'describe') && job.listing !== undefined;
}

type Result = AsyncGenerator<readonly Column[] | EncodedPieces, number, undefined>;

async function sendResult(rows: Result, signal: AbortSignal): Promise<{ readonly totalRows: number }> {
  try {
    for (;;) {
      const step = await rows.next();
      if (step.done === true) return { totalRows: step.value };
      signal.throwIfAborted();
      if ('pieces' in step.value) await answers.sendRows(step.value);
      else await answers.sendColumns(step.value);
    }
  } finally {
    // The connection outlives the job: its result must be closed, however the job ends.
    await rows.return(0);
  }
}
