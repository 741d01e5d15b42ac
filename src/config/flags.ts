import { didYouMean } from '../core/text/did-you-mean.ts';
import { type GivenValue, quoteValue } from './given-value.ts';
import { configFileNames, settingRows } from './setting-rows.ts';
import { UsageError } from './usage-error.ts';

const booleanFlags = new Set(settingRows.filter(({ type }) => type.toml.includes('boolean')).map(({ flag }) => flag));
const flags = new Set([configFileNames.flag, ...settingRows.map(({ flag }) => flag)]);

/** `--flag value`, `--flag=value`, and for a boolean also `--flag` and `--no-flag`, by flag. */
export function parseFlags(argv: readonly string[]): ReadonlyMap<string, GivenValue> {
  const given = new Map<string, GivenValue>();
  const rest = [...argv];
  for (let argument = rest.shift(); argument !== undefined; argument = rest.shift()) {
    const { flag, text } = readFlag(argument, rest);
    if (given.has(flag)) throw new UsageError(`${flag} is given twice; give it once`);
    given.set(flag, { text, origin: flag });
  }
  return given;
}

/** Takes the flag's value from `rest` if it is there. */
function readFlag(argument: string, rest: string[]): { flag: string; text: string } {
  const equals = argument.indexOf('=');
  const name = equals < 0 ? argument : argument.slice(0, equals);
  const value = equals < 0 ? undefined : argument.slice(equals + 1);
  const negated = name.replace(/^--no-/, '--');
  if (booleanFlags.has(name)) return { flag: name, text: value ?? 'true' };
  if (negated !== name && booleanFlags.has(negated) && value === undefined) return { flag: negated, text: 'false' };
  if (!name.startsWith('-')) {
    throw new UsageError(`unexpected argument ${quoteValue(argument)}; flags are written --name value or --name=value`);
  }
  if (!flags.has(name)) {
    const hint = didYouMean(name, flags) || '; --help lists the flags';
    throw new UsageError(`unknown flag ${quoteValue(name)}${hint}`);
  }
  if (value !== undefined) return { flag: name, text: value };
  const next = rest.shift();
  if (next === undefined || next.startsWith('--')) throw new UsageError(`${name} needs a value: ${name} <value>`);
  return { flag: name, text: next };
}
