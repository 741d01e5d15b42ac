import { AppError } from '../core/app-error.ts';
import { reservedEngineNames } from '../core/engine-names.ts';
import { didYouMean } from '../core/text/did-you-mean.ts';
import { type EngineConfig, type EngineSetting, engineSettings } from './engine-settings.ts';
import { type GivenValue, quoteValue } from './given-value.ts';
import { engineNameForm, type SettingContext } from './setting-type.ts';
import { UsageError } from './usage-error.ts';

type GivenValues = ReadonlyMap<string, GivenValue>;
type Environment = Readonly<Record<string, string | undefined>>;

/** A key of an engine, as it is shown. */
export interface EngineRow {
  readonly key: string;
  readonly shown: string | undefined;
  readonly origin: string;
}

const table: Readonly<Record<string, EngineSetting>> = engineSettings;
const keys = Object.keys(table);
const prefixes = ['FRAMEHOLD_ENGINES_', 'SERVICE_ENGINES_'] as const;

/** Refuses what `[engines.<name>]` of a file may not be called. */
export function checkEngineName(name: string, origin: string): void {
  const what = `the engine ${quoteValue(name)} (set in ${origin})`;
  if (reservedEngineNames.includes(name)) {
    throw new UsageError(`${what} has a name of our own: ${reservedEngineNames.join(', ')} are; choose another`);
  }
  if (!engineNameForm.test(name)) {
    throw new UsageError(
      `${what} is not named well; expected small letters, digits, _ and -, a letter first, at most 64 of them`,
    );
  }
}

export function unknownEngineKey(name: string, key: string, origin: string): UsageError {
  const hint = didYouMean(key, keys) || `; [engines.${name}] has ${keys.join(', ')}`;
  return new UsageError(`unknown key engines.${name}.${key} in ${origin}${hint}`);
}

export function engineSetting(key: string): EngineSetting | undefined {
  return Object.hasOwn(table, key) ? table[key] : undefined;
}

/** The engines that file and environment describe, in order of their names. The environment wins, key by key. */
export function resolveEngines(
  file: GivenValues,
  env: Environment,
  context: SettingContext,
): { readonly engines: ReadonlyMap<string, EngineConfig>; readonly rows: readonly EngineRow[] } {
  const given = new Map<string, Map<string, GivenValue>>();
  for (const [path, value] of file) {
    const [section, name = '', key = ''] = path.split('.');
    // An empty text counts as not given, here as everywhere.
    if (section === 'engines' && value.text.trim() !== '') keysOf(given, name).set(key, value);
  }
  const byEnvironment = namesInEnvironment([...given.keys()]);
  for (const { name: spelled, key, value } of environmentKeys(env)) {
    const name = byEnvironment.get(spelled) ?? spelled.toLowerCase();
    checkEngineName(name, value.origin);
    const ofEngine = keysOf(given, name);
    // The first prefix wins, and both win over the file.
    if (!prefixes.some((prefix) => ofEngine.get(key)?.origin.startsWith(prefix))) ofEngine.set(key, value);
  }
  const engines = new Map<string, EngineConfig>();
  const rows: EngineRow[] = [];
  for (const name of [...given.keys()].sort()) {
    const { config, rows: its } = resolveEngine(name, keysOf(given, name), context);
    engines.set(name, config);
    rows.push(...its);
  }
  return { engines, rows };
}

function resolveEngine(name: string, given: GivenValues, context: SettingContext) {
  const config: Record<string, unknown> = {};
  const rows: EngineRow[] = [];
  for (const [key, { property, type, default: fallback, example, mask = (text: string) => text }] of Object.entries(
    table,
  )) {
    const path = `engines.${name}.${key}`;
    const value = given.get(key);
    if (typeof fallback === 'object' && value === undefined) {
      const [there] = given.values();
      const isSetIn = there === undefined ? '' : ` (set by ${there.origin})`;
      throw new UsageError(
        `the engine ${name}${isSetIn} has no ${key}; add ${key} = ${JSON.stringify(example)} to [engines.${name}]`,
      );
    }
    const text = value?.text ?? (fallback as string | undefined);
    const origin = value?.origin ?? 'default';
    if (text !== undefined) {
      const { value: parsed, problem = '' } = parsedOrProblem(text.trim(), type, context);
      if (parsed === undefined) {
        const hint = key === 'kind' ? didYouMean(text, [example]) : '';
        const shown = `${path} is ${quoteValue(mask(text))} (set by ${origin})`;
        throw new UsageError(`${shown}${problem}; expected ${type.accepts}${hint}`);
      }
      config[property] = parsed;
    } else config[property] = undefined;
    rows.push({ key: path, shown: text === undefined ? undefined : mask(text), origin });
  }
  return { config: Object.freeze(config) as EngineConfig, rows };
}

function parsedOrProblem(
  text: string,
  type: EngineSetting['type'],
  context: SettingContext,
): { readonly value?: unknown; readonly problem?: string } {
  try {
    return { value: type.parse(text, context) };
  } catch (thrown) {
    if (!(thrown instanceof AppError)) throw thrown;
    return { problem: `: ${thrown.message}` };
  }
}

/** How the environment spells each name: `my-spark` is MY_SPARK there. */
function namesInEnvironment(names: readonly string[]): ReadonlyMap<string, string> {
  const spelled = new Map<string, string>();
  for (const name of names) {
    const upper = name.toUpperCase().replaceAll('-', '_');
    const other = spelled.get(upper);
    if (other !== undefined) {
      throw new UsageError(`the engines ${other} and ${name} differ only in - and _; give one of them another name`);
    }
    spelled.set(upper, name);
  }
  return spelled;
}

function* environmentKeys(env: Environment): Generator<{ name: string; key: string; value: GivenValue }> {
  for (const prefix of prefixes) {
    for (const [variable, text = ''] of Object.entries(env)) {
      if (!variable.startsWith(prefix) || text.trim() === '') continue;
      const rest = variable.slice(prefix.length);
      const key = keys.find((each) => rest.endsWith(`_${each.toUpperCase()}`));
      if (key === undefined) {
        const known = keys.map((each) => each.toUpperCase());
        throw new UsageError(
          `${variable} names no key of an engine; it is ${prefix}<NAME>_ and one of ${known.join(', ')}`,
        );
      }
      yield { name: rest.slice(0, -key.length - 1), key, value: { text, origin: variable } };
    }
  }
}

function keysOf(given: Map<string, Map<string, GivenValue>>, name: string): Map<string, GivenValue> {
  const known = given.get(name) ?? new Map<string, GivenValue>();
  given.set(name, known);
  return known;
}
