import { isDeepStrictEqual } from 'node:util';
import type { Config } from './config.ts';
import type { LoadedConfig, ResolvedSetting } from './load-config.ts';
import { namedTables } from './named-tables.ts';
import { settingConflict } from './setting-conflicts.ts';
import { settingRows } from './setting-rows.ts';

/** A setting in force. */
export interface SettingInForce extends ResolvedSetting {
  /** It was changed since, and the change waits for a restart. */
  readonly needsRestart: boolean;
}

/** The settings from a reload on. */
export interface ReloadPlan {
  readonly config: Config;
  readonly settings: readonly SettingInForce[];
  /** Names of the changed settings: those in force now, and those not. */
  readonly reloaded: readonly string[];
  readonly needRestart: readonly string[];
  /** Reason for which nothing was reloaded: the new settings conflict with old ones that need a restart. */
  readonly conflict: string | undefined;
}

interface Change {
  readonly name: string;
  /** Whether a key of the settings is part of it. */
  readonly isOf: (key: string) => boolean;
  readonly reload: boolean;
}

type Sections = Readonly<Record<string, Readonly<Record<string, unknown>>>>;
type NamedConfigs = ReadonlyMap<string, unknown>;

/** Takes those new settings that can change while the server runs. */
export function planReload(running: LoadedConfig, found: LoadedConfig): ReloadPlan {
  const changes = [...changedRows(running.config, found.config), ...changedTables(running.config, found.config)];
  const names = (chosen: readonly Change[]): string[] => chosen.map(({ name }) => name);
  const config = withReloadable(running.config, found.config);
  const conflict = settingConflict(config, (key) => originOf(found, key));
  if (conflict !== undefined) {
    const settings = rowsInForce(running, found, changes, () => false);
    return { config: running.config, settings, reloaded: [], needRestart: names(changes), conflict };
  }
  return {
    config,
    settings: rowsInForce(running, found, changes, ({ reload }) => reload),
    reloaded: names(changes.filter(({ reload }) => reload)),
    needRestart: names(changes.filter(({ reload }) => !reload)),
    conflict,
  };
}

function originOf({ settings }: LoadedConfig, key: string): string {
  return settings.find((setting) => setting.key === key)?.origin ?? 'default';
}

/** Only commands, and no server, read those of `[client]`. */
const serverRows = settingRows.filter(({ section }) => section !== 'client');

function changedRows(running: Config, found: Config): Change[] {
  const [before, after] = [running, found].map((config) => config as unknown as Sections);
  return serverRows
    .filter(({ section, property }) => !isDeepStrictEqual(before?.[section]?.[property], after?.[section]?.[property]))
    .map(({ key, reload }) => ({ name: key, isOf: (other) => other === key, reload: reload === true }));
}

function changedTables(running: Config, found: Config): Change[] {
  return namedTables.flatMap(({ path, reload }) => {
    const [before, after] = [namedConfigs(running, path), namedConfigs(found, path)];
    return [...new Set([...before.keys(), ...after.keys()])]
      .filter((name) => !isDeepStrictEqual(before.get(name), after.get(name)))
      .map((name) => ({
        name: `${path}.${name}`,
        isOf: (key: string) => key.startsWith(`${path}.${name}.`),
        reload,
      }));
  });
}

function namedConfigs(config: Config, path: string): NamedConfigs {
  return path.split('.').reduce((at, name) => (at as Record<string, unknown>)[name], config as unknown) as NamedConfigs;
}

function withReloadable(running: Config, found: Config): Config {
  const before = running as unknown as Sections;
  const after = found as unknown as Sections;
  const sections: Record<string, Record<string, unknown>> = {};
  for (const { section, property, reload } of serverRows) {
    const from = reload === true ? after : before;
    sections[section] = { ...sections[section], [property]: from[section]?.[property] };
  }
  const { issuers, certificates } = found.auth;
  // The table makes both: the values that are taken, and the type.
  return { ...running, ...sections, auth: { ...sections.auth, issuers, certificates } } as Config;
}

/** In the order of the running ones, with new tables behind them. */
function rowsInForce(
  running: LoadedConfig,
  found: LoadedConfig,
  changes: readonly Change[],
  isTaken: (change: Change) => boolean,
): SettingInForce[] {
  const changeOf = (key: string): Change | undefined => changes.find(({ isOf }) => isOf(key));
  const foundRows = new Map(found.settings.map((row) => [row.key, row]));
  const rows: SettingInForce[] = [];
  for (const row of running.settings) {
    const change = changeOf(row.key);
    if (change !== undefined && !isTaken(change)) rows.push({ ...row, needsRestart: true });
    else {
      // Its line in the file may be another one.
      const now = foundRows.get(row.key);
      if (now !== undefined) rows.push({ ...now, needsRestart: false });
    }
  }
  const known = new Set(running.settings.map(({ key }) => key));
  for (const row of found.settings) {
    const change = known.has(row.key) ? undefined : changeOf(row.key);
    if (change !== undefined && isTaken(change)) rows.push({ ...row, needsRestart: false });
  }
  return rows;
}
