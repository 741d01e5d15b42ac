import { type ConnectOpts, Socket, type SocketConstructorOpts } from 'node:net';
import { AppError } from '../../../core/app-error.ts';
import type { Column } from '../../../core/data-type.ts';
import { isFailedSync, storageError } from '../../../core/storage-error.ts';
import { rowsHead } from '../protocol/encoded-rows.ts';
import {
  type Command,
  dataDescriptor,
  type Job,
  type MessageKind,
  MessageParser,
  messageHeader,
  messageKind,
  type WireError,
  type WorkerSettings,
} from '../protocol/protocol.ts';
import { slotBytes } from '../protocol/shared-file.ts';
import { AnswerChannel, type NextMessage } from './channel/answer-channel.ts';
import { InputQueue } from './channel/input-queue.ts';
import { JobCancels } from './channel/job-cancels.ts';
import { SharedSlots } from './channel/shared-slots.ts';
import { columnsText } from './encode/columns-text.ts';
import type { EncodedPieces } from './encode/row-encoder.ts';
import { analyzeSql } from './gate/analyze.ts';
import { createDatabase } from './jobs/create-database-job.ts';
import { readRows } from './jobs/read-job.ts';
import { recode } from './jobs/recode-job.ts';
import { warmFrame } from './jobs/warm-job.ts';
import { writePart } from './jobs/write-job.ts';
import { restrictProcess } from './native/c-api.ts';
import { DuckDbError, outOfMemory } from './native/duckdb-error.ts';
import { firstError } from './native/first-error.ts';
import { UnreadableType } from './native/logical-type.ts';
import { type Connection, Session } from './native/session.ts';
import { checksumLike } from './parquet/checksum.ts';
import { probe } from './parquet/probe.ts';
import { analyticsTables } from './query/analytics-tables-job.ts';
import { describeQuery, type QueryContext, runKeptShort, runQuery } from './query/query-job.ts';
import type { ShortResult } from './query/short-query.ts';
import { SqlCatalog } from './query/sql-catalog.ts';

/** Beyond DuckDB's own limit: Node's heap, our buffers, and what DuckDB's functions allocate past its accounts. */
const memoryAllowance = 2_000_000_000;
/** DuckDB forgets an interrupt that comes before the statement runs, so it is repeated until the job ends. */
const interruptEveryMs = 20;
/** About what a pipe holds. */
const readBytes = 256 * 1024;

const settings = JSON.parse(process.argv[2] ?? '{}') as WorkerSettings;
restrictProcess(settings.memoryBytes + memoryAllowance);

// A query under way holds up a normal exit for as long as it runs.
const endNow = (): void => void process.kill(process.pid, 'SIGKILL');
process.on('disconnect', endNow);
// Ctrl-C in a terminal reaches the whole group; the parent decides when its workers end.
process.on('SIGINT', () => {});
process.on('SIGTERM', () => {});

const session = new Session({ ...settings, keepsFiles: settings.sql !== undefined });
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
const answers = new AnswerChannel(data);
const input = new InputQueue(data);
data.on('error', endNow);
data.on('close', endNow);

const cancels = new JobCancels();
process.on('message', (command: Command) => {
  if (command.kind === 'cancel') cancels.cancel(command.turn);
  else if (command.kind === 'slotFree') slots?.release(command.slot);
  else process.send?.('alive');
});
/** Only where this process runs callers' SQL. */
let catalog: SqlCatalog | undefined;

export async function start(): Promise<void> {
  if (settings.sql !== undefined) catalog = await SqlCatalog.open(session.connect(), settings.sql);
  process.send?.('ready');
}

async function run(job: Job, turn: number): Promise<void> {
  input.begin(turn);
  const short = job.kind === 'query' && catalog !== undefined ? runKeptShort(catalog, job) : undefined;
  if (short !== undefined) {
    cancels.pass();
    input.begin(turn + 1);
    return await sendShort(short, turn);
  }
  const abort = new AbortController();
  const connection = catalog?.connection ?? session.connect();
  let repeat: NodeJS.Timeout | undefined;
  cancels.begin(turn, () => {
    if (abort.signal.aborted) return;
    abort.abort();
    connection.interrupt();
    repeat = setInterval(() => connection.interrupt(), interruptEveryMs);
  });
  let answer: [MessageKind, unknown];
  try {
    abort.signal.throwIfAborted();
    answer = [messageKind.done, await perform(job, connection, abort.signal)];
  } catch (error) {
    const told = toWire(firstError(error), abort.signal.aborted);
    answer = [messageKind.error, connection.isSpoilt ? { ...told, fatal: true } : told];
  } finally {
    cancels.end();
    clearInterval(repeat);
    if (connection !== catalog?.connection) connection[Symbol.dispose]();
  }
  input.begin(turn + 1);
  await sendAnswer(answer, turn);
}

async function sendShort({ columns, pieces, totalRows }: ShortResult, turn: number): Promise<void> {
  await sendColumns(columns, 'follows');
  for (const piece of pieces) await sendRows(piece, 'follows');
  await sendAnswer([messageKind.done, { totalRows }], turn);
}

async function sendAnswer([kind, answer]: [MessageKind, unknown], turn: number): Promise<void> {
  const payload = Buffer.from(JSON.stringify(answer ?? null));
  await answers.send([messageHeader(kind, turn, payload.length), payload], 'none');
}

async function perform(job: Job, connection: Connection, signal: AbortSignal): Promise<unknown> {
  switch (job.kind) {
    case 'analyze':
    case 'describe':
    case 'query':
    case 'analyticsTables':
      if (catalog === undefined) throw new Error('this worker runs no SQL of callers');
      return await performSql(job, { catalog, signal, input: input.stream(signal) });
    case 'probe':
      return await probe(connection, job.path);
    case 'hasChecksum': {
      const { checksum } = await checksumLike(job.checksum, job.path, signal);
      return checksum === job.checksum;
    }
    case 'warm':
      return await warmFrame(connection, job);
    case 'createDatabase':
      return await createDatabase(connection, job.path);
    case 'write':
      return await writePart({ connection, signal, input: input.stream(signal), settings }, job);
    case 'recode':
      return await sendResult(recode(input.stream(signal), job), signal);
    case 'read':
      for await (const rows of readRows(connection, job)) {
        signal.throwIfAborted();
        await sendRows(rows, 'perhaps');
      }
      return undefined;
    default:
      job satisfies never;
      throw new Error('unreachable');
  }
}

type SqlJobs = Extract<Job, { kind: 'analyze' | 'describe' | 'query' | 'analyticsTables' }>;

async function performSql(job: SqlJobs, context: QueryContext): Promise<unknown> {
  switch (job.kind) {
    case 'analyze':
      return await analyzeSql(context.catalog.connection, job.sql);
    case 'analyticsTables':
      return await analyticsTables(context.catalog);
    case 'describe':
      return await describeQuery(context, job);
    case 'query':
      return await sendResult(runQuery(context, job), context.signal);
    default:
      job satisfies never;
      throw new Error('unreachable');
  }
}

type Result = AsyncGenerator<readonly Column[] | EncodedPieces, number, undefined>;

async function sendResult(rows: Result, signal: AbortSignal): Promise<{ readonly totalRows: number }> {
  try {
    for (;;) {
      const step = await rows.next();
      if (step.done === true) return { totalRows: step.value };
      signal.throwIfAborted();
      if ('pieces' in step.value) await sendRows(step.value, 'perhaps');
      else await sendColumns(step.value, 'perhaps');
    }
  } finally {
    // The connection outlives the job: what it opened must be closed, however it ends.
    await rows.return(0);
  }
}

function sendColumns(columns: readonly Column[], next: NextMessage): Promise<void> {
  const payload = Buffer.from(columnsText(columns));
  return answers.send([messageHeader(messageKind.rows, 0, payload.length), payload], next);
}

async function sendRows({ rows, rowEnds, pieces }: EncodedPieces, next: NextMessage): Promise<void> {
  const head = rowsHead(rows, rowEnds);
  const bytes = pieces.reduce((sum, piece) => sum + piece.length, head.length);
  if (slots !== undefined && bytes >= leastSharedBytes && bytes <= slotBytes) {
    const slot = await slots.put([head, ...pieces]);
    if (slot !== undefined) {
      const place = Buffer.allocUnsafe(8);
      place.writeUInt32LE(slot, 0);
      place.writeUInt32LE(bytes, 4);
      // Not held: the next one may wait for the slot that the parent empties.
      return answers.send([messageHeader(messageKind.sharedRows, 0, place.length), place], 'perhaps');
    }
  }
  return answers.send([messageHeader(messageKind.rows, 0, bytes), head, ...pieces], next);
}

/** What a pipe takes at once is as well sent through it. */
const leastSharedBytes = 64 * 1024;

function toWire(thrown: unknown, aborted: boolean): WireError {
  const error = toldError(thrown);
  const detail = error instanceof Error ? (error.stack ?? error.message) : String(error);
  const cause = error instanceof AppError ? error.cause : error;
  const fatal = cause instanceof DuckDbError && cause.fatal;
  if (aborted) return { code: 'cancelled', message: 'cancelled', options: {}, detail, fatal };
  if (!(error instanceof AppError)) return { code: 'internal', message: 'internal error', options: {}, detail, fatal };
  const { code, message, hint, position, retryAfterSeconds } = error;
  // After it DuckDB may hold on to so much that the next statement finds no memory.
  const isSpent = code === 'sql_out_of_memory';
  const under = cause instanceof Error ? `${detail}\n${cause.message}` : detail;
  const { syscall } = (cause ?? {}) as NodeJS.ErrnoException;
  const options = { hint, position, retryAfterSeconds };
  return { code, message, options, detail: under, syscall, fatal: fatal || isSpent };
}

/** What a caller may hear of it as an AppError, anything else as it is. */
function toldError(thrown: unknown): unknown {
  if (thrown instanceof RangeError && noMemory.test(thrown.message)) return outOfMemory(thrown);
  if (thrown instanceof UnreadableType) {
    return new AppError('unsupported_type', `a column's type ${thrown.typeName} is not supported`, { cause: thrown });
  }
  const error = storageError(thrown);
  if (error instanceof AppError || !isFailedSync(thrown)) return error;
  return new AppError('storage_read_only', 'the storage failed to keep a write', { cause: thrown });
}

/** What V8 says when the system gives no memory for a buffer. */
const noMemory = /allocation failed/;
