import { CodedError } from '@framehold/columns';
import { isEngineName, reservedEngineNames } from '../core/names/engine-names.ts';
import { didYouMean } from '../core/text/did-you-mean.ts';
import { type CertificateConfig, certificateSettings, type IssuerConfig, issuerSettings } from './auth-settings.ts';
import { type EngineConfig, engineSettings } from './engine-settings.ts';
import { type GivenValue, quoteValue } from './given-value.ts';
import type { NamedSetting } from './setting.ts';
import type { SettingContext } from './setting-type.ts';
import { UsageError } from './usage-error.ts';

type GivenValues = ReadonlyMap<string, GivenValue>;
type Environment = Readonly<Record<string, string | undefined>>;

/** Tables of the config file whose names the operator chooses: `[engines.<name>]`. */
export interface NamedTable {
  /** The path before the name in the file. */
  readonly path: string;
  /** The noun for one of them: "the engine spark". */
  readonly noun: string;
  readonly settings: Readonly<Record<string, NamedSetting>>;
  readonly reservedNames: readonly string[];
  /** SIGHUP applies changes. */
  readonly reload: boolean;
}

/** A key of one of them in its shown form. */
export interface NamedRow {
  readonly key: string;
  readonly shown: string | undefined;
  readonly origin: string;
  readonly reload: boolean;
}

const engineTable: NamedTable = {
  path: 'engines',
  noun: 'engine',
  settings: engineSettings,
  reservedNames: reservedEngineNames,
  reload: false,
};
const issuerTable: NamedTable = {
  path: 'auth.issuers',
  noun: 'issuer',
  settings: issuerSettings,
  reservedNames: [],
  reload: true,
};
const certificateTable: NamedTable = {
  path: 'auth.certificates',
  noun: 'certificate rule',
  settings: certificateSettings,
  reservedNames: [],
  reload: true,
};

export const namedTables: readonly NamedTable[] = [engineTable, issuerTable, certificateTable];

export interface NamedTables {
  readonly engines: ReadonlyMap<string, EngineConfig>;
  readonly issuers: ReadonlyMap<string, IssuerConfig>;
  readonly certificates: ReadonlyMap<string, CertificateConfig>;
  readonly rows: readonly NamedRow[];
}

/** The tables of file and environment, each in order of the names. The environment wins, key by key. */
export function resolveNamedTables(file: GivenValues, env: Environment, context: SettingContext): NamedTables {
  const rows: NamedRow[] = [];
  const resolve = <T>(table: NamedTable): ReadonlyMap<string, T> => {
    const resolved = resolveTable(table, file, env, context);
    rows.push(...resolved.rows);
    // The settings define both the parser and the type.
    return resolved.configs as ReadonlyMap<string, T>;
  };
  return {
    engines: resolve<EngineConfig>(engineTable),
    issuers: resolve<IssuerConfig>(issuerTable),
    certificates: resolve<CertificateConfig>(certificateTable),
    rows,
  };
}

/** Refuses invalid names of `[<path>.<name>]` in a file. */
export function checkName({ noun, reservedNames }: NamedTable, name: string, origin: string): void {
  const what = `the ${noun} ${quoteValue(name)} (set in ${origin})`;
  if (reservedNames.includes(name)) {
    throw new UsageError(`${what} has a name of our own: ${reservedNames.join(', ')} are; choose another`);
  }
  if (!isEngineName(name)) {
    throw new UsageError(
      `${what} is not named well; expected small letters, digits, _ and -, a letter first, at most 64 of them`,
    );
  }
}

/** Throws for an unknown key. */
export function namedSetting({ path, settings }: NamedTable, name: string, key: string, origin: string): NamedSetting {
  const setting = Object.hasOwn(settings, key) ? settings[key] : undefined;
  if (setting !== undefined) return setting;
  const keys = Object.keys(settings);
  const hint = didYouMean(key, keys) || `; [${path}.${name}] has ${keys.join(', ')}`;
  throw new UsageError(`unknown key ${path}.${name}.${key} in ${origin}${hint}`);
}

/** The prefix of the environment's variables for such tables. */
export function environmentPrefixes({ path }: NamedTable): readonly string[] {
  const section = path.toUpperCase().replaceAll('.', '_');
  return [`FRAMEHOLD_${section}_`, `SERVICE_${section}_`];
}

function resolveTable(table: NamedTable, file: GivenValues, env: Environment, context: SettingContext) {
  const given = new Map<string, Map<string, GivenValue>>();
  for (const [path, value] of file) {
    if (!path.startsWith(`${table.path}.`)) continue;
    const [name = '', key = ''] = path.slice(table.path.length + 1).split('.');
    // An empty text counts as not given, here as everywhere.
    if (value.text.trim() !== '') keysOf(given, name).set(key, value);
  }
  const byEnvironment = namesInEnvironment(table, [...given.keys()]);
  const prefixes = environmentPrefixes(table);
  for (const { name: spelled, key, value } of environmentKeys(table, env)) {
    const name = byEnvironment.get(spelled) ?? spelled.toLowerCase();
    checkName(table, name, value.origin);
    const keys = keysOf(given, name);
    // The first prefix wins, and both win over the file.
    if (!prefixes.some((prefix) => keys.get(key)?.origin.startsWith(prefix))) keys.set(key, value);
  }
  const configs = new Map<string, unknown>();
  const rows: NamedRow[] = [];
  for (const name of [...given.keys()].sort()) {
    const { config, rows: its } = resolveOne(table, name, keysOf(given, name), context);
    configs.set(name, config);
    rows.push(...its);
  }
  return { configs, rows };
}

function resolveOne(
  { path, noun, settings, reload }: NamedTable,
  name: string,
  given: GivenValues,
  context: SettingContext,
) {
  const config: Record<string, unknown> = {};
  const rows: NamedRow[] = [];
  for (const [key, { property, type, default: fallback, example, mask = (text: string) => text }] of Object.entries(
    settings,
  )) {
    const value = given.get(key);
    if (typeof fallback === 'object' && value === undefined) {
      const [there] = given.values();
      const isSetIn = there === undefined ? '' : ` (set by ${there.origin})`;
      throw new UsageError(
        `the ${noun} ${name}${isSetIn} has no ${key}; add ${key} = ${JSON.stringify(example)} to [${path}.${name}]`,
      );
    }
    const text = value?.text ?? (fallback as string | undefined);
    const origin = value?.origin ?? 'default';
    if (text !== undefined) {
      const { value: parsed, problem = '' } = parsedOrProblem(text.trim(), type, context);
      if (parsed === undefined) {
        const hint = key === 'kind' ? didYouMean(text, [example]) : '';
        const shown = `${path}.${name}.${key} is ${quoteValue(mask(text))} (set by ${origin})`;
        throw new UsageError(`${shown}${problem}; expected ${type.accepts}${hint}`);
      }
      config[property] = parsed;
    } else config[property] = undefined;
    rows.push({ key: `${path}.${name}.${key}`, shown: text === undefined ? undefined : mask(text), origin, reload });
  }
  return { config: Object.freeze(config), rows };
}

function parsedOrProblem(
  text: string,
  type: NamedSetting['type'],
  context: SettingContext,
): { readonly value?: unknown; readonly problem?: string } {
  try {
    return { value: type.parse(text, context) };
  } catch (thrown) {
    if (!(thrown instanceof CodedError)) throw thrown;
    return { problem: `: ${thrown.message}` };
  }
}

/** The environment's spelling of each name: `my-spark` is MY_SPARK there. */
function namesInEnvironment({ noun }: NamedTable, names: readonly string[]): ReadonlyMap<string, string> {
  const spelled = new Map<string, string>();
  for (const name of names) {
    const upper = name.toUpperCase().replaceAll('-', '_');
    const other = spelled.get(upper);
    if (other !== undefined) {
      throw new UsageError(`the ${noun}s ${other} and ${name} differ only in - and _; give one of them another name`);
    }
    spelled.set(upper, name);
  }
  return spelled;
}

function* environmentKeys(
  table: NamedTable,
  env: Environment,
): Generator<{ name: string; key: string; value: GivenValue }> {
  const keys = Object.keys(table.settings);
  for (const prefix of environmentPrefixes(table)) {
    for (const [variable, text = ''] of Object.entries(env)) {
      if (!variable.startsWith(prefix) || text.trim() === '') continue;
      const rest = variable.slice(prefix.length);
      const key = keys.find((each) => rest.endsWith(`_${each.toUpperCase()}`));
      if (key === undefined) {
        const known = keys.map((each) => each.toUpperCase());
        const article = /^[aeiou]/.test(table.noun) ? 'an' : 'a';
        throw new UsageError(
          `${variable} names no key of ${article} ${table.noun}; it is ${prefix}<NAME>_ and one of ${known.join(', ')}`,
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
