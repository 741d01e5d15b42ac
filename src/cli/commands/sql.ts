import { addAbortSignal } from 'node:stream';
import { UsageError } from '../../config/usage-error.ts';
import { quotingOf } from '../../core/names/engine-names.ts';
import { isBlank, type QuotingRules, splitStatements } from '../../core/text/split-statements.ts';
import type { ClientContext } from '../framework/client-command.ts';
import type { ClientTables } from '../framework/command-tables.ts';
import type { Environment } from '../framework/environment.ts';
import { outputFormat } from '../framework/file-format.ts';
import type { Given } from '../framework/flag-table.ts';
import { wholeNumberFlag } from '../framework/flag-values.ts';
import { assertNotBinaryOnTerminal, isStandardOutput } from '../terminal/output.ts';
import { runStatement, type StatementOptions } from './run-statement.ts';

type SqlArguments = Given<ClientTables['sql']>;

/** `framehold sql`: the given statements, or those of standard input, or a prompt. */
export async function sql(context: ClientContext, given: SqlArguments): Promise<number> {
  const { environment } = context;
  const options = statementOptions(environment, given);
  assertNotBinaryOnTerminal(environment, options.output, options.format);
  const [text] = given.operands;
  if (text !== undefined) {
    const statements = allStatements(text, quotingOf(options.engine));
    if (statements.length === 0) throw new UsageError('the statement is empty; give one, such as "select 1"');
    assertOneForOne(statements, options);
    for (const statement of statements) await runOne(context, statement, options);
    return 0;
  }
  if (environment.stdinIsTerminal && environment.stdoutIsTerminal) {
    const { sqlPrompt } = await import('./sql-prompt.ts');
    return sqlPrompt(context, options);
  }
  await runInput(context, options);
  return 0;
}

function statementOptions(environment: Environment, { flags }: SqlArguments): StatementOptions {
  const { output } = flags;
  const byPlace = isStandardOutput(output) ? (environment.stdoutIsTerminal ? 'table' : 'csv') : undefined;
  return {
    engine: flags.engine,
    format: flags.format ?? byPlace ?? outputFormat(output as string),
    output,
    limit: wholeNumberFlag('--limit', flags.limit),
    params: flags.param,
    settings: settingsOf(flags.set),
  };
}

function settingsOf(given: readonly string[]): StatementOptions['settings'] {
  if (given.length === 0) return undefined;
  const settings = new Map<string, string>();
  for (const text of given) {
    const at = text.indexOf('=');
    const name = text.slice(0, Math.max(0, at)).trim();
    if (name === '') throw new UsageError(`--set is ${JSON.stringify(text)}; write --set TimeZone=Europe/Berlin`);
    if (settings.has(name)) throw new UsageError(`--set ${name} is given twice; give it once`);
    settings.set(name, text.slice(at + 1));
  }
  return Object.fromEntries(settings);
}

/** The last one needs no semicolon. */
function allStatements(text: string, rules: QuotingRules): readonly string[] {
  const { statements, rest } = splitStatements(text, rules);
  return isBlank(rest) ? statements : [...statements, rest.trim()];
}

/** A file holds one result, and values belong to one statement. */
function assertOneForOne(statements: readonly string[], { output, params }: StatementOptions): void {
  if (statements.length < 2) return;
  const flag = !isStandardOutput(output) ? '--output' : params.length > 0 ? '--param' : undefined;
  if (flag !== undefined) throw new UsageError(`${flag} is for one statement, and there are ${statements.length}`);
}

async function runOne(context: ClientContext, statement: string, options: StatementOptions): Promise<void> {
  context.undone('the statement was cancelled');
  await runStatement(context, statement, options);
}

async function runInput(context: ClientContext, options: StatementOptions): Promise<void> {
  const input = addAbortSignal(context.signal, context.environment.stdin()).setEncoding(
    'utf8',
  ) as AsyncIterable<string>;
  const rules = quotingOf(options.engine);
  const runsAsTheyCome = isStandardOutput(options.output) && options.params.length === 0;
  let rest = '';
  for await (const piece of input) {
    rest += piece;
    if (!runsAsTheyCome) continue;
    const split = splitStatements(rest, rules);
    rest = split.rest;
    for (const statement of split.statements) await runOne(context, statement, options);
  }
  const statements = allStatements(rest, rules);
  assertOneForOne(statements, options);
  for (const statement of statements) await runOne(context, statement, options);
}
