import { join } from 'node:path';
import { createInterface, type Interface } from 'node:readline';
import { quotingOf } from '../../core/names/engine-names.ts';
import { shownMs } from '../../core/text/amounts.ts';
import { didYouMean } from '../../core/text/did-you-mean.ts';
import { isBlank, splitStatements } from '../../core/text/split-statements.ts';
import type { ClientContext } from '../framework/client-command.ts';
import { failureLine, printable } from '../framework/command-failure.ts';
import { engineTable } from './engines.ts';
import { description } from './info.ts';
import { frameTable } from './ls.ts';
import { runStatement, type StatementOptions } from './run-statement.ts';
import { SqlHistory } from './sql-history.ts';

const firstPrompt = 'framehold> ';
const nextPrompt = '       ... ';

const help = `Statements end with ; and may take several lines.

  \\d            the frames
  \\d HANDLE     one of them, with its columns
  \\engines      what SQL can run on
  \\engine NAME  run statements there from now on
  \\timing       tell how long each statement takes, or no longer
  \\?            this
  \\q, Ctrl-D    leave
  Ctrl-C        drop what is typed, or cancel the statement that runs
`;

/** `framehold sql` on a terminal. Resolves when the user leaves. */
export async function sqlPrompt(context: ClientContext, options: StatementOptions): Promise<number> {
  const { environment, client } = context;
  const { version } = await client.server(context);
  environment.stdout.write(`Framehold ${version} at ${client.address}. \\? helps, \\q leaves.\n`);
  const history = new SqlHistory(join(environment.homeDir, '.framehold', 'history'));
  const lines = createInterface({
    input: environment.stdin(),
    output: environment.stdout,
    terminal: true,
    history: history.load(),
    historySize: 1000,
    removeHistoryDuplicates: true,
  });
  return new SqlPrompt(context, options, lines, history).run();
}

class SqlPrompt {
  readonly #context: ClientContext;
  #options: StatementOptions;
  readonly #lines: Interface;
  readonly #history: SqlHistory;
  /** The typed part of a statement that has not ended. */
  #typed = '';
  #isTiming = false;
  #running: AbortController | undefined;

  constructor(context: ClientContext, options: StatementOptions, lines: Interface, history: SqlHistory) {
    this.#context = context;
    this.#options = options;
    this.#lines = lines;
    this.#history = history;
  }

  async run(): Promise<number> {
    const lines = this.#lines;
    lines.on('SIGINT', () => this.#interrupt());
    const close = (): void => lines.close();
    this.#context.signal.addEventListener('abort', close);
    this.#prompt();
    for await (const line of lines) {
      this.#history.add(line);
      if ((await this.#take(line)) === 'leave') break;
      this.#prompt();
    }
    this.#context.signal.removeEventListener('abort', close);
    lines.close();
    this.#print('\n');
    return 0;
  }

  #prompt(): void {
    this.#lines.setPrompt(this.#typed === '' ? firstPrompt : nextPrompt);
    this.#lines.prompt();
  }

  #print(text: string): void {
    this.#context.environment.stdout.write(text);
  }

  #interrupt(): void {
    if (this.#running !== undefined) {
      this.#running.abort();
      return;
    }
    this.#typed = '';
    // To the end of the line, then all before it.
    this.#lines.write(null, { ctrl: true, name: 'e' });
    this.#lines.write(null, { ctrl: true, name: 'u' });
    this.#print('^C\n');
    this.#prompt();
  }

  async #take(line: string): Promise<'leave' | undefined> {
    if (this.#typed === '' && line.trimStart().startsWith('\\')) return this.#command(line.trim().replace(/;$/, ''));
    const rules = quotingOf(this.#options.engine);
    const { statements, rest } = splitStatements(`${this.#typed}${line}\n`, rules);
    this.#typed = isBlank(rest) ? '' : rest;
    for (const statement of statements) await this.#timed((context) => runStatement(context, statement, this.#options));
    return undefined;
  }

  async #command(line: string): Promise<'leave' | undefined> {
    const [name, argument] = line.split(/\s+/);
    switch (name) {
      case '\\q':
        return 'leave';
      case '\\?':
        this.#print(help);
        return undefined;
      case '\\timing':
        this.#isTiming = !this.#isTiming;
        this.#print(`Timing is ${this.#isTiming ? 'on' : 'off'}.\n`);
        return undefined;
      case '\\engines':
        await this.#timed(async (context) => this.#print(engineTable(context, await context.client.engines(context))));
        return undefined;
      case '\\engine':
        await this.#timed(async (context) => this.#chooseEngine(argument, context));
        return undefined;
      case '\\d':
        await this.#timed(async (context) => {
          const text =
            argument === undefined
              ? frameTable(context, await context.client.handles(context))
              : description(context, await context.client.info(argument, context));
          this.#print(text);
        });
        return undefined;
      default:
        this.#print(`There is no ${name}; \\? lists what there is.\n`);
        return undefined;
    }
  }

  async #chooseEngine(name: string | undefined, { client, signal }: ClientContext): Promise<void> {
    if (name !== undefined) {
      const { engines = [] } = await client.server({ signal });
      const known = [...new Set([...engines, 'local', 'auto'])];
      if (!known.includes(name)) {
        this.#print(`There is no engine ${printable(name)}${didYouMean(name, known)}; \\engines lists them.\n`);
        return;
      }
      this.#options = { ...this.#options, engine: name };
    }
    this.#print(`Statements run on ${this.#options.engine ?? 'local'}.\n`);
  }

  /** Runs it under a Ctrl-C of its own, and reports its errors. */
  async #timed(work: (context: ClientContext) => Promise<void>): Promise<void> {
    const running = new AbortController();
    this.#running = running;
    const startedMs = performance.now();
    try {
      await work({ ...this.#context, signal: AbortSignal.any([this.#context.signal, running.signal]) });
      if (this.#isTiming) this.#print(`${shownMs(performance.now() - startedMs)}\n`);
    } catch (error) {
      const line = running.signal.aborted ? 'cancelled' : failureLine(error);
      if (line === undefined) throw error;
      this.#print(`${line}\n`);
    } finally {
      this.#running = undefined;
    }
  }
}
