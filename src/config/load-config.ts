import { join } from 'node:path';
import type { Config } from './config.ts';
import { parseConfigFile } from './config-file.ts';
import { parseFlags } from './flags.ts';
import { type GivenValue, quoteValue } from './given-value.ts';
import { resolveNamedTables } from './named-tables.ts';
import type { DefaultContext } from './setting.ts';
import { settingConflict } from './setting-conflicts.ts';
import { configFileNames, type SettingRow, settingRows } from './setting-rows.ts';
import * as type from './setting-type.ts';
import { checkVariables } from './unknown-variables.ts';
import { UsageError } from './usage-error.ts';

/** Everything that the configuration depends on. */
export interface ConfigSources {
  /** The flags behind the command's name. */
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly homeDir: string;
  readonly cwd: string;
  readonly coreCount: number;
  readonly stderrIsTerminal: boolean;
  /** Undefined without such a file. */
  readFile(path: string): string | undefined;
}

/** A setting's value for people: secrets masked, undefined when unset. */
export interface ResolvedSetting {
  readonly key: string;
  readonly shown: string | undefined;
  readonly origin: string;
  /** SIGHUP applies a change. */
  readonly reload: boolean;
}

export interface LoadedConfig {
  readonly config: Config;
  /** Every setting, in the order of the table, and those of named tables behind them. */
  readonly settings: readonly ResolvedSetting[];
  readonly configFile: string | undefined;
}

type GivenValues = ReadonlyMap<string, GivenValue>;

/** Throws a UsageError for the first thing that is wrong. */
export function loadConfig(sources: ConfigSources): LoadedConfig {
  checkVariables(sources.env);
  const { values, chosen, settings, configFile, file } = resolve(settingRows, sources);
  const { engines, issuers, certificates, rows } = resolveNamedTables(file, sources.env, sources);
  const extraCertificatesFile = sources.env.NODE_EXTRA_CA_CERTS;
  // The table makes both: the rows that were parsed, and the type.
  const auth = { ...values.auth, issuers, certificates };
  const config = { ...values, auth, engines, extraCertificatesFile } as Config;
  const conflict = settingConflict(config, (key) => chosen.get(key)?.origin ?? 'default');
  if (conflict !== undefined) throw new UsageError(conflict);
  return deepFreeze({ config, settings: [...settings, ...rows], configFile });
}

/** Only the settings of client commands: a wrong setting of a server does not matter to them. */
export function loadClientConfig(sources: ConfigSources): Config['client'] {
  const { values } = resolve(
    settingRows.filter(({ section }) => section === 'client'),
    sources,
  );
  return deepFreeze((values as Pick<Config, 'client'>).client);
}

function resolve(rows: readonly SettingRow[], sources: ConfigSources) {
  const flags = parseFlags(sources.argv);
  const file = readConfigFile(sources, flags);
  const chosen = new Map<string, GivenValue>();
  const context: DefaultContext = { ...sources, text: (key) => chosen.get(key)?.text };
  const values: Record<string, Record<string, unknown>> = {};
  const settings: ResolvedSetting[] = [];
  for (const row of rows) {
    const given = pick(row, flags, sources.env) ?? nonEmpty(file.given.get(row.key)) ?? defaultOf(row, context);
    if (given !== undefined) chosen.set(row.key, given);
    const value = given === undefined ? undefined : parseValue(row, given, sources);
    values[row.section] = { ...values[row.section], [row.property]: value };
    const shown = given === undefined ? undefined : (row.type.show?.(value) ?? given.text);
    const origin = given?.origin ?? 'default';
    settings.push({ key: row.key, shown: mask(row, shown), origin, reload: row.reload === true });
  }
  return { values, chosen, settings, configFile: file.path, file: file.given };
}

function pick(row: Pick<SettingRow, 'flag' | 'envNames'>, flags: GivenValues, env: ConfigSources['env']) {
  const fromEnv = row.envNames.map((name) => ({ text: env[name] ?? '', origin: name }));
  return nonEmpty(flags.get(row.flag)) ?? fromEnv.find(nonEmpty);
}

/** An empty text counts as unset. */
function nonEmpty(given: GivenValue | undefined): GivenValue | undefined {
  return given?.text.trim() === '' ? undefined : given;
}

function defaultOf(row: SettingRow, context: DefaultContext): GivenValue | undefined {
  const text = typeof row.default === 'object' ? row.default.text(context) : row.default;
  return text === undefined ? undefined : { text, origin: 'default' };
}

function parseValue(row: SettingRow, given: GivenValue, sources: ConfigSources): unknown {
  const value = row.type.parse(given.text.trim(), sources);
  if (value !== undefined) return value;
  const shown = quoteValue(mask(row, given.text) ?? '');
  throw new UsageError(`${row.key} is ${shown} (set by ${given.origin}); expected ${row.type.accepts}`);
}

function mask(row: SettingRow, text: string | undefined): string | undefined {
  return text === undefined ? undefined : (row.mask?.(text) ?? text);
}

function readConfigFile(sources: ConfigSources, flags: GivenValues): { path: string | undefined; given: GivenValues } {
  const named = pick(configFileNames, flags, sources.env);
  const paths =
    named === undefined
      ? ['.framehold', '.service'].map((folder) => join(sources.homeDir, folder, 'config.toml'))
      : [type.path.parse(named.text, sources) ?? named.text];
  for (const path of paths) {
    const toml = readText(path, sources);
    if (toml !== undefined) return { path, given: parseConfigFile(toml, path) };
  }
  if (named === undefined) return { path: undefined, given: new Map() };
  throw new UsageError(`there is no config file ${paths[0]} (named by ${named.origin}); create it or name another`);
}

function readText(path: string, sources: ConfigSources): string | undefined {
  try {
    return sources.readFile(path);
  } catch (error) {
    throw new UsageError(`cannot read the config file ${path}: ${error instanceof Error ? error.message : error}`);
  }
}

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    Object.values(value).forEach(deepFreeze);
  }
  return value;
}
