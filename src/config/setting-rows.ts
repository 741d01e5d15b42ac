import type { Setting } from './setting.ts';
import { configFileSetting, settings } from './settings.ts';

/** A setting with all the names by which it can be set. */
export interface SettingRow extends Setting {
  readonly section: string;
  /** `section.key` of the TOML file, and the setting's name everywhere else. */
  readonly key: string;
  readonly flag: string;
  /** The first that is set wins. */
  readonly envNames: readonly string[];
}

const table: Readonly<Record<string, Readonly<Record<string, Setting>>>> = settings;

/** The table of settings as a list, in its order. */
export const settingRows: readonly SettingRow[] = Object.entries(table).flatMap(([section, keys]) =>
  Object.entries(keys).map(([key, setting]) => ({
    ...setting,
    section,
    key: `${section}.${key}`,
    ...namesOf(setting),
  })),
);

export const configFileNames = namesOf(configFileSetting);

function namesOf({ env, bareEnv }: { readonly env: string; readonly bareEnv?: string }) {
  return {
    flag: `--${env.toLowerCase().replaceAll('_', '-')}`,
    envNames: [`FRAMEHOLD_${env}`, `SERVICE_${env}`, ...(bareEnv === undefined ? [] : [bareEnv])],
  };
}
