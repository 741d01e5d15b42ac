import { quoteValue } from '../config/given-value.ts';
import { UsageError } from '../config/usage-error.ts';
import { didYouMean } from '../core/text/did-you-mean.ts';
import { type CliCommand, commands } from './commands.ts';
import type { Environment } from './framework/environment.ts';

const helpFlags = new Set(['--help', '-h']);

/** Runs the command that `argv` names. Resolves with the exit code. */
export async function run(environment: Environment, argv: readonly string[]): Promise<number> {
  try {
    const [name, ...rest] = argv;
    if (name === undefined || name === 'help' || helpFlags.has(name))
      return print(environment, programHelp(environment.version));
    if (name === '--version' || name === '-V') return print(environment, `framehold ${environment.version}\n`);
    const command = findCommand(name);
    if (rest.some((argument) => helpFlags.has(argument))) return print(environment, await commandHelp(name, command));
    return await command.run(environment, rest);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    environment.stderr.write(`framehold: ${error.message}\n`);
    return 2;
  }
}

function findCommand(name: string): CliCommand {
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (command !== undefined) return command;
  const names = Object.keys(commands);
  const what = name.startsWith('-') ? 'a command comes first, not' : 'unknown command';
  const hint = didYouMean(name, names) || `; the commands are ${names.join(', ')}`;
  throw new UsageError(`${what} ${quoteValue(name)}${hint}`);
}

function print(environment: Environment, text: string): number {
  environment.stdout.write(text);
  return 0;
}

function programHelp(version: string): string {
  const list = Object.entries(commands).map(([name, { summary }]) => `  ${name.padEnd(12)}${summary}`);
  return `Framehold ${version}: a data-frame server

Usage: framehold <command> [flags]

Commands:
${list.join('\n')}

  framehold <command> --help    what a command takes
  framehold --version           the version

Try: framehold server --demo
     framehold sql "select symbol, max(price) from trades group by 1"
`;
}

async function commandHelp(name: string, command: CliCommand): Promise<string> {
  return `Usage: framehold ${name} ${command.usage}\n\n${command.summary}.\n\n${await command.details()}`;
}
