import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { addAbortSignal, type Readable } from 'node:stream';
import { ConnectionError, FrameholdError } from '#client/errors.ts';
import { ArrowFormatError, isArrow } from '#client/node/arrow-reader.ts';
import { ByteReader } from '#client/node/byte-reader.ts';
import type { Put, PutOptions } from '#client/operations.ts';
import { quoteValue } from '../../config/given-value.ts';
import { UsageError } from '../../config/usage-error.ts';
import { formatOfName } from '../../core/rows/file-format.ts';
import { shownBytes, shownCount, shownMs } from '../../core/text/amounts.ts';
import type { ClientContext } from '../framework/client-command.ts';
import { CommandFailure, failureLine, printable, systemReason } from '../framework/command-failure.ts';
import type { ClientTables } from '../framework/command-tables.ts';
import { handleFromPath } from '../framework/file-format.ts';
import type { Given } from '../framework/flag-table.ts';
import { Progress } from '../terminal/progress.ts';

type PutArguments = Given<ClientTables['put']>;

interface Source {
  /** `-` is standard input. */
  readonly path: string;
  readonly shown: string;
  /** Undefined: the server makes one. */
  readonly handle: string | undefined;
}

const chunkBytes = 1024 * 1024;

/** `framehold put`: a line for each frame that is held. */
export async function put(context: ClientContext, given: PutArguments): Promise<number> {
  const sources = planPut(given);
  const isOneFrame = given.flags.append && given.flags.handle !== undefined;
  let failed = 0;
  for (const [index, source] of sources.entries()) {
    const rest = sources.slice(index);
    const later = rest.slice(1);
    context.undone(notPut(rest));
    try {
      await putOne(context, given, source, () => {
        const left = later.length === 0 ? '' : `; ${notPut(later)}`;
        context.undone(`${printable(source.shown)} was sent whole, and ${mayBeHeld(source)}${left}`);
      });
    } catch (error) {
      context.signal.throwIfAborted();
      const line = failureLine(error);
      if (line === undefined) throw error;
      // Further files would fail alike, or come in the wrong order.
      const isOver = isOneFrame || error instanceof ConnectionError;
      const left = isOver && later.length > 0 ? `; not put either: ${listed(later)}` : '';
      context.environment.stderr.write(`framehold: ${printable(source.shown)}: ${line}${left}\n`);
      if (isOver) return 1;
      failed++;
    }
  }
  return failed === 0 ? 0 : 1;
}

function notPut(sources: readonly Source[]): string {
  return `${listed(sources)} ${sources.length === 1 ? 'was' : 'were'} not put`;
}

function mayBeHeld({ handle }: Source): string {
  return `it may be held: "framehold ${handle === undefined ? 'ls' : `info ${handle}`}" tells`;
}

function listed(sources: readonly Source[]): string {
  return sources.map(({ shown }) => printable(shown)).join(', ');
}

/** The frame of each file. Every fault of the arguments is reported before the first byte is sent. */
function planPut({ operands, flags }: PutArguments): readonly Source[] {
  const { handle, append, overwrite } = flags;
  if (append && overwrite) throw new UsageError('--append and --overwrite exclude each other; give one of them');
  if (handle !== undefined && operands.length > 1 && !append) {
    throw new UsageError(`--handle names one frame, and there are ${operands.length} files; --append puts all into it`);
  }
  if (operands.filter((path) => path === '-').length > 1) throw new UsageError('- is given twice; give it once');
  const sources = operands.map((path) => ({
    path,
    shown: path === '-' ? 'standard input' : path,
    handle: handle ?? (path === '-' ? undefined : handleFromPath(path)),
  }));
  if (!append) refuseSameHandles(sources);
  return sources;
}

function refuseSameHandles(sources: readonly Source[]): void {
  const seen = new Map<string, string>();
  for (const { path, handle } of sources) {
    if (handle === undefined) continue;
    const other = seen.get(handle);
    if (other !== undefined) {
      throw new UsageError(
        `${quoteValue(other)} and ${quoteValue(path)} would both be ${handle}; put one of them with --handle, or both with --append`,
      );
    }
    seen.set(handle, path);
  }
}

async function putOne(
  context: ClientContext,
  { flags }: PutArguments,
  source: Source,
  onSent: () => void,
): Promise<void> {
  const { environment, signal } = context;
  const startedMs = performance.now();
  const path = resolve(environment.cwd, source.path);
  const totalBytes = source.path === '-' ? undefined : await sizeOf(path);
  let answer: Put;
  {
    using progress = new Progress(environment, `put ${source.shown}`, totalBytes);
    const stream = source.path === '-' ? environment.stdin() : createReadStream(path, { highWaterMark: chunkBytes });
    const input = read(addAbortSignal(signal, stream), onSent);
    answer = await send(context, source.handle, new ByteReader(progress.count(input)), {
      mode: flags.append ? 'append' : flags.overwrite ? 'overwrite' : 'create',
      ttl: flags.ttl,
      format: flags.format ?? formatOfName(source.path),
      delimiter: flags.delimiter,
      header: flags['no-header'] ? false : undefined,
      skipBadRows: flags['skip-bad-rows'],
      totalBytes,
      signal,
    }).catch((error: unknown) => {
      throw explained(error, source);
    });
  }
  const rejected = answer.rejectedRows > 0 ? `, ${answer.rejectedRows} rejected` : '';
  const facts = [
    answer.handle,
    shownCount(answer.rows, 'row') + rejected,
    shownBytes(answer.bytes),
    shownMs(performance.now() - startedMs),
  ];
  environment.stdout.write(`${facts.join('  ')}\n`);
  if (!flags.verbose) return;
  const columns = answer.columns ?? (await context.client.info(answer.handle, context)).columns ?? [];
  for (const { name, type } of columns) environment.stdout.write(`  ${printable(name)}  ${type}\n`);
  for (const { line, column, reason } of answer.rejections) {
    const where = column === null ? `line ${line}` : `line ${line}, column ${column}`;
    environment.stdout.write(`  rejected: ${printable(`${where}: ${reason}`)}\n`);
  }
}

async function send(
  { client }: ClientContext,
  handle: string | undefined,
  reader: ByteReader,
  options: PutOptions,
): Promise<Put> {
  if (!isArrow(await reader.peek(8))) return client.put(handle, reader.rest(), options);
  if (options.format !== undefined && options.format !== 'arrow') {
    throw new CommandFailure(`this is Arrow, not ${options.format}`, 'give --format arrow, or leave it out');
  }
  return client.put(handle, reader.rest(), { ...options, format: 'arrow' });
}

async function sizeOf(path: string): Promise<number | undefined> {
  const found = await stat(path).catch((error: unknown) => {
    throw unreadable(error);
  });
  if (found.isDirectory()) throw new CommandFailure('is a directory', 'name the files in it');
  return found.isFile() ? found.size : undefined;
}

async function* read(stream: Readable, onEnd: () => void): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    yield* stream as AsyncIterable<Uint8Array>;
  } catch (error) {
    throw unreadable(error);
  }
  onEnd();
}

function unreadable(thrown: unknown): unknown {
  const reason = systemReason(thrown);
  return reason === undefined ? thrown : new CommandFailure(`cannot be read: ${reason}`);
}

/** With a remedy for the user of this command. */
function explained(error: unknown, source: Source): unknown {
  if (error instanceof ArrowFormatError) return new CommandFailure(`it ${error.message}`);
  if (!(error instanceof FrameholdError)) return error;
  const { code, message } = error;
  if (code === 'handle_exists') {
    return new FrameholdError(code, message, { hint: 'use --overwrite to replace it, or --append to add to it' });
  }
  if (!(error instanceof ConnectionError) || error.code !== 'broken_connection') return error;
  const hint = error.isSent
    ? `all was sent, and ${mayBeHeld(source)}`
    : 'nothing of it was kept; run the same command again';
  return new ConnectionError(error.code, message, { hint });
}
