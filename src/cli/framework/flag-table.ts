import { quoteValue } from '../../config/given-value.ts';
import { UsageError } from '../../config/usage-error.ts';
import { didYouMean } from '../../core/text/did-you-mean.ts';

export interface Flag {
  /** Stands for the value in `--flag VALUE`. A flag without one is a switch. */
  readonly value?: string;
  /** A letter, for `-x`. */
  readonly short?: string;
  /** The allowed values, if there is a list. */
  readonly choices?: readonly string[];
  /** May be given more than once. */
  readonly repeated?: true;
  readonly help: string;
}

/** By name, without the dashes. */
export type FlagTable = Readonly<Record<string, Flag>>;

export interface Operands {
  /** As in the usage: `FILE…`. */
  readonly shown: string;
  readonly least: number;
  readonly most: number;
  readonly choices?: readonly string[];
}

/** The arguments of a command, for parsing, help, completion and the reference. */
export interface CommandTable {
  readonly summary: string;
  readonly operands: Operands;
  readonly flags: FlagTable;
  /** Facts beyond the flags. */
  readonly notes: readonly string[];
  readonly examples: readonly string[];
}

export type GivenFlags<F extends FlagTable> = {
  readonly [Name in keyof F]: F[Name] extends { repeated: true }
    ? readonly string[]
    : F[Name] extends { value: string; choices: readonly (infer Choice)[] }
      ? Choice | undefined
      : F[Name] extends { value: string }
        ? string | undefined
        : boolean;
};

export interface Given<T extends CommandTable> {
  readonly operands: readonly string[];
  readonly flags: GivenFlags<T['flags']>;
}

/** Reads the arguments behind the command's name. Throws a UsageError for the first fault. */
export function parseArguments<const T extends CommandTable>(
  name: string,
  table: T,
  argv: readonly string[],
): Given<T> {
  const operands: string[] = [];
  const given = new Map<string, string[]>();
  const rest = [...argv];
  for (let argument = rest.shift(); argument !== undefined; argument = rest.shift()) {
    if (argument === '--') operands.push(...rest.splice(0));
    else if (isFlag(argument)) readFlag(table.flags, argument, rest, given);
    else operands.push(argument);
  }
  checkOperands(name, table.operands, operands);
  const flags = Object.entries(table.flags).map(([flag, { value, repeated }]) => {
    const values = given.get(flag);
    return [flag, repeated ? (values ?? []) : value === undefined ? values !== undefined : values?.[0]] as const;
  });
  return { operands, flags: Object.fromEntries(flags) as GivenFlags<T['flags']> };
}

/** `-` is standard input, `-5` a number, and `-- text` a comment of SQL. */
function isFlag(argument: string): boolean {
  return /^--[a-z][\w-]*(=|$)/i.test(argument) || /^-[a-z]/i.test(argument);
}

function readFlag(table: FlagTable, argument: string, rest: string[], given: Map<string, string[]>): void {
  const [, typed = argument, value] = /^(--[^=]+)(?:=([\s\S]*))?$/.exec(argument) ?? shortFlag(argument);
  const found = Object.entries(table).find(([name, { short }]) => typed === `--${name}` || typed === `-${short}`);
  if (found === undefined) {
    const hint = didYouMean(typed, flagNames(table)) || '; --help lists the flags';
    throw new UsageError(`unknown flag ${quoteValue(typed)}${hint}`);
  }
  const [name, flag] = found;
  const before = given.get(name) ?? [];
  if (before.length > 0 && flag.repeated !== true) throw new UsageError(`${typed} is given twice; give it once`);
  given.set(name, [...before, flag.value === undefined ? switchOn(typed, value) : flagValue(typed, flag, value, rest)]);
}

/** `-o`, or `-oFILE`. */
function shortFlag(argument: string): readonly (string | undefined)[] {
  return [argument, argument.slice(0, 2), argument.length > 2 ? argument.slice(2) : undefined];
}

function switchOn(typed: string, value: string | undefined): string {
  if (value === undefined) return '';
  throw new UsageError(`${typed} takes no value; leave out ${quoteValue(value)}`);
}

function flagValue(typed: string, { value: shown, choices }: Flag, given: string | undefined, rest: string[]): string {
  const value = given ?? rest.shift();
  if (value === undefined || (given === undefined && /^--[a-z]/i.test(value))) {
    throw new UsageError(`${typed} needs a value: ${typed} ${shown}`);
  }
  if (choices !== undefined && !choices.includes(value)) {
    throw new UsageError(`${typed} is ${quoteValue(value)}; expected one of ${choices.join(', ')}`);
  }
  return value;
}

function checkOperands(name: string, { shown, least, most, choices }: Operands, given: readonly string[]): void {
  if (given.length < least) {
    throw new UsageError(`${name} needs ${shown}; "framehold ${name} --help" shows how`);
  }
  const extra = given[most];
  if (extra !== undefined) {
    throw new UsageError(`unexpected argument ${quoteValue(extra)}; usage: framehold ${name} ${shown}`.trimEnd());
  }
  const wrong = choices === undefined ? undefined : given.find((each) => !choices.includes(each));
  if (wrong !== undefined) {
    const hint = didYouMean(wrong, choices ?? []) || `; expected one of ${choices?.join(', ')}`;
    throw new UsageError(`unknown argument ${quoteValue(wrong)}${hint}`);
  }
}

function flagNames(table: FlagTable): string[] {
  return [...Object.keys(table).map((name) => `--${name}`), '--help'];
}

/** `-o, --output FILE` */
export function flagUsage(name: string, { short, value }: Flag): string {
  return `${short === undefined ? '' : `-${short}, `}--${name}${value === undefined ? '' : ` ${value}`}`;
}

/** The text of `framehold <command> --help` below the summary. */
export function tableHelp({ flags, notes, examples }: CommandTable): string {
  const entries = Object.entries(flags).map(([name, flag]) => {
    const choices = flag.choices === undefined ? '' : ` (${flag.choices.join(', ')})`;
    return `  ${flagUsage(name, flag)}\n      ${flag.help}${choices}\n`;
  });
  const blocks = [
    entries.length > 0 ? `Flags:\n${entries.join('')}` : '',
    notes.map((note) => `${note}\n`).join(''),
    `Examples:\n${examples.map((example) => `  ${example}\n`).join('')}`,
  ];
  return blocks.filter((block) => block !== '').join('\n');
}
