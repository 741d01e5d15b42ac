import { randomUUID } from 'node:crypto';
import { ConnectionError } from '#client/errors.ts';
import { readArrow } from '#client/node/arrow-reader.ts';
import { arrowFile, arrowStream } from '#client/node/arrow-writer.ts';
import { ByteReader } from '#client/node/byte-reader.ts';
import type { SqlOptions } from '#client/operations.ts';
import type { Format } from '#client/selection.ts';
import type { HttpAnswer } from '#client/transport.ts';
import { LinkedAbort } from '../../core/async/linked-abort.ts';
import { shownCount } from '../../core/text/amounts.ts';
import type { ClientContext } from '../framework/client-command.ts';
import { CommandFailure, printable } from '../framework/command-failure.ts';
import { isStandardOutput, type OutputPath, writeOutput } from '../terminal/output.ts';
import { Progress } from '../terminal/progress.ts';
import { terminalTable } from '../terminal/terminal-table.ts';
import { downloadFailure, isArrowFile, save } from './get.ts';
import { progressText } from './queries.ts';
import { type ResultTable, readResult } from './result-table.ts';

export interface StatementOptions {
  /** Undefined: the engine that has the frames. */
  readonly engine: string | undefined;
  readonly format: 'table' | Format;
  readonly output: OutputPath;
  readonly limit: number | undefined;
  readonly params: readonly string[];
  /** By name; undefined where there are none. */
  readonly settings: Readonly<Record<string, string>> | undefined;
}

type StatementRequest = Pick<SqlOptions, 'engine' | 'params' | 'settings'> & {
  readonly sql: string;
  readonly id: string;
};

/** Rows of a table on a terminal. */
const rowsOnTerminal = 100;
const countTimeoutMs = 1000;

/** Runs one statement, and prints or saves the result. */
export async function runStatement(context: ClientContext, sql: string, options: StatementOptions): Promise<void> {
  const { engine, format, output, limit, params, settings } = options;
  if (params.length > 0 && engine === 'tsdb') {
    throw new CommandFailure(`the engine ${engine} takes no parameters`, 'write the values into the statement');
  }
  if (settings !== undefined && engine === 'tsdb') {
    throw new CommandFailure(`the engine ${engine} takes no settings`, 'leave --set out');
  }
  const id = `cli-${randomUUID()}`;
  const request = { sql, engine, settings, id, ...(params.length > 0 && { params }) };
  try {
    if (format === 'table') return await printTable(context, request, options);
    const body = await waitFor(context, id, () => run(context, request, format, limit));
    if (format === 'arrow') {
      const messages = readArrow(new ByteReader(body));
      await save(context, output, 'sql', isArrowFile(output) ? arrowFile(messages) : arrowStream(messages));
    } else {
      await save(context, output, 'sql', body, body.totalBytes);
    }
  } catch (error) {
    throw statementFailure(error, output);
  }
}

async function printTable(
  context: ClientContext,
  request: StatementRequest,
  { output, limit }: StatementOptions,
): Promise<void> {
  const { environment } = context;
  const isCut = limit === undefined && environment.stdoutIsTerminal && isStandardOutput(output);
  const text = await waitFor(context, request.id, async () => {
    // One row more than are shown reveals whether there are more.
    const result = await fetchResult(context, request, isCut ? rowsOnTerminal + 1 : limit);
    const { columns, rows, facts } = result;
    if (columns.length === 0) return `${shownFacts(facts)}\n`;
    const shown = isCut ? rows.slice(0, rowsOnTerminal) : rows;
    const ran = request.engine === 'auto' ? `; on ${facts.engine}, ${facts.engine_reason}` : '';
    const count =
      shown.length < rows.length
        ? `${shownCount(shown.length, 'row')}; ${await countLeft(context, request, result, shown.length)}`
        : shownCount(rows.length, 'row');
    return `${terminalTable(environment, columns, shown)}(${count}${printable(ran)})\n`;
  });
  await writeOutput(environment, output, oneText(text));
}

async function fetchResult(
  context: ClientContext,
  request: StatementRequest,
  limit: number | undefined,
): Promise<ResultTable> {
  const pieces: Uint8Array[] = [];
  const body = await run(context, request, 'json', limit);
  for await (const piece of body) pieces.push(piece);
  return readResult(Buffer.concat(pieces).toString());
}

function run(
  { client, signal }: ClientContext,
  { sql, ...options }: StatementRequest,
  format: Format,
  limit: number | undefined,
): Promise<HttpAnswer> {
  return client.sql(sql, { ...options, limit, signal }).bytes(format);
}

/** The number of rows that are not shown, if it is found quickly. */
async function countLeft(
  context: ClientContext,
  request: StatementRequest,
  { facts }: ResultTable,
  shown: number,
): Promise<string> {
  // Elsewhere it may be hours of work for many machines.
  if (facts.engine !== undefined && facts.engine !== 'local') return 'more not shown';
  using limit = new LinkedAbort([context.signal], countTimeoutMs);
  try {
    const sql = `SELECT count(*) FROM (${request.sql}\n)`;
    const { rows } = await fetchResult({ ...context, signal: limit.signal }, { ...request, sql }, undefined);
    const left = Number(rows[0]?.[0]) - shown;
    if (left > 0) return `${left.toLocaleString('en-US')} more not shown`;
  } catch {
    context.signal.throwIfAborted();
  }
  return 'more not shown';
}

/** For a statement without rows. */
function shownFacts({ updated, dml, ddl }: ResultTable['facts']): string {
  if (typeof updated === 'number') return `OK, ${shownCount(updated, 'row')}`;
  return typeof dml === 'string' ? dml : typeof ddl === 'string' ? ddl : 'OK';
}

async function waitFor<T>(context: ClientContext, id: string, work: () => Promise<T>): Promise<T> {
  using progress = new Progress(context.environment, 'sql');
  using _ = new QueryWatch(context, id, progress);
  return await work();
}

async function* oneText(text: string): AsyncGenerator<Uint8Array, void, undefined> {
  yield Buffer.from(text);
}

function statementFailure(error: unknown, output: OutputPath): unknown {
  if (!(error instanceof ConnectionError) || !error.isSent) return downloadFailure(error, output);
  return new ConnectionError(error.code, error.message, {
    hint: 'a statement that changes frames may have been carried out; one that only reads can be run again',
  });
}

const everyMs = 1000;

/** While a statement runs, polls its progress and shows it in the line on the terminal. */
class QueryWatch implements Disposable {
  readonly #timer: NodeJS.Timeout | undefined;
  readonly #stopping = new AbortController();

  constructor({ environment, client }: ClientContext, id: string, progress: Progress) {
    if (!environment.stderrIsTerminal) return;
    let isAsking = false;
    const ask = async (): Promise<void> => {
      if (isAsking) return;
      isAsking = true;
      try {
        const queries = await client.queries(this.#stopping);
        const reported = queries.find((query) => query.id === id)?.progress ?? undefined;
        if (reported !== undefined) progress.note = progressText(reported);
      } catch {
        // The wait for the statement reports a server that does not answer.
      } finally {
        isAsking = false;
      }
    };
    this.#timer = setInterval(() => void ask(), everyMs).unref();
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
    this.#stopping.abort();
  }
}
