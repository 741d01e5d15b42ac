import { expect } from 'vitest';
import { type ConfigSources, type LoadedConfig, loadConfig } from '../../src/config/load-config.ts';
import { UsageError } from '../../src/config/usage-error.ts';

/** The sources of the configuration in a test. */
export interface Given {
  readonly argv?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** By their paths. */
  readonly files?: Readonly<Record<string, string>>;
  /** The file that is read where none is named. */
  readonly toml?: string | undefined;
}

export const home = '/home/ada';
export const defaultFile = `${home}/.framehold/config.toml`;

export function sources({ argv = [], env = {}, files = {}, toml }: Given): ConfigSources {
  const all: Readonly<Record<string, string>> = toml === undefined ? files : { ...files, [defaultFile]: toml };
  return {
    argv,
    env,
    homeDir: home,
    cwd: '/srv',
    coreCount: 4,
    stderrIsTerminal: false,
    readFile: (path) => all[path],
  };
}

export function load(given: Given, rest: Partial<ConfigSources> = {}): LoadedConfig {
  return loadConfig({ ...sources(given), ...rest });
}

/** The message of a refused configuration. */
export function complaint(given: Given): string {
  try {
    load(given);
  } catch (error) {
    expect(error).toBeInstanceOf(UsageError);
    const { message } = error as UsageError;
    expect(message).not.toContain('\n');
    return message;
  }
  throw new Error('the configuration was accepted');
}
