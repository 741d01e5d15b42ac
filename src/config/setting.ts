import type { SettingType } from './setting-type.ts';

export interface DefaultContext {
  readonly homeDir: string;
  readonly coreCount: number;
  readonly stderrIsTerminal: boolean;
  /** The text of a setting further up in the table. */
  text(key: string): string | undefined;
}

export interface Setting {
  /** Its name in Config, with the unit of the value there. */
  readonly property: string;
  /** Read as FRAMEHOLD_X and SERVICE_X; in small letters and with dashes it is the flag. */
  readonly env: string;
  /** A further environment name, after those two. */
  readonly bareEnv?: string;
  readonly type: SettingType<unknown>;
  /** As text. If it depends on something, `shown` names that in the docs. Undefined: the setting is then unset. */
  readonly default: string | undefined | { readonly shown: string; text(context: DefaultContext): string | undefined };
  /** For the docs, where the default is not a fixed text. */
  readonly example?: string;
  readonly help: string;
  /** SIGHUP applies a change. Without it a change waits for a restart. */
  readonly reload?: true;
  /** Hides secrets in the text. */
  readonly mask?: (text: string) => string;
}

/** One key of a table whose name the operator chooses. */
export interface NamedSetting extends Omit<Setting, 'env' | 'bareEnv' | 'default' | 'reload'> {
  /** As text. `required`: the table is invalid without it. Undefined: it is then unset. */
  readonly default: string | undefined | { readonly required: true };
  readonly example: string;
}

export const required = { required: true } as const;

/** Such a table as the server takes it: parsed and complete. */
export type ValuesOf<Table extends Readonly<Record<string, NamedSetting>>> = {
  readonly [Key in keyof Table as Table[Key]['property']]: Table[Key] extends {
    type: SettingType<infer Value>;
    default: infer Default;
  }
    ? Value | (undefined extends Default ? undefined : never)
    : never;
};
