import { join, resolve } from 'node:path';
import { isEngineName } from '../core/names/engine-names.ts';
import { parseDurationMs } from '../core/text/duration.ts';
import { type LogFilter, parseLogFilter } from '../telemetry/log-filter.ts';
import { parseHttpUrl } from './http-url.ts';
import { type ListenAddress, parseHost, parseListenAddress, parsePort } from './listen-address.ts';

export type TomlKind = 'string' | 'number' | 'boolean' | 'list' | 'table';

export interface SettingContext {
  readonly homeDir: string;
  /** Base of relative paths. */
  readonly cwd: string;
}

/** The form of a setting. Flags, environment and TOML all go through `parse`, as text; a TOML table as JSON. */
export interface SettingType<T> {
  /** Stands for the value in `--flag <placeholder>`. */
  readonly placeholder: string;
  /** Completes "expected …". */
  readonly accepts: string;
  readonly unit: string;
  readonly toml: readonly TomlKind[];
  /** Undefined when the text is not acceptable; an AppError where there is more to say. */
  parse(text: string, context: SettingContext): T | undefined;
  /** The value as people should see it, where the text that was given is not the best. */
  show?(value: T): string;
}

/** Node turns a timer beyond 2^31 - 1 ms (24.8 days) into one of 1 ms. */
const maxTimerMs = 24 * 86_400_000;

export const path: SettingType<string> = {
  placeholder: 'path',
  accepts: 'a path',
  unit: 'path',
  toml: ['string'],
  parse: (text, { homeDir, cwd }) => {
    if (text.includes('\0')) return undefined;
    return resolve(cwd, text === '~' || text.startsWith('~/') ? join(homeDir, text.slice(1)) : text);
  },
  show: (value) => value,
};

/** The permissions that files are made without, as octal digits. */
export const umask: SettingType<number> = {
  placeholder: 'umask',
  accepts: 'the octal digits of a umask that leaves the owner all rights, such as 077, 027 or 007',
  unit: 'octal digits',
  toml: ['string'],
  parse: (text) => (/^0?0[0-7]{2}$/.test(text) ? Number.parseInt(text, 8) : undefined),
  show: (value) => value.toString(8).padStart(3, '0'),
};

export const boolean: SettingType<boolean> = {
  placeholder: 'true|false',
  accepts: 'true or false',
  unit: 'true, false',
  toml: ['boolean'],
  parse: (text) => {
    if (/^(true|yes|on|1)$/i.test(text)) return true;
    if (/^(false|no|off|0)$/i.test(text)) return false;
    return undefined;
  },
  show: String,
};

export function choice<const T extends string>(options: readonly T[]): SettingType<T> {
  const accepts = options.length === 1 ? `${options[0]}` : `one of ${options.join(', ')}`;
  return {
    placeholder: options.join('|'),
    accepts,
    unit: options.join(', '),
    toml: ['string'],
    parse: (text) => options.find((option) => option === text.toLowerCase()),
    show: String,
  };
}

/** Written as a text or, in TOML, as a number. */
export const tlsVersion: SettingType<'1.2' | '1.3'> = { ...choice(['1.2', '1.3']), toml: ['string', 'number'] };

export function integer({ min, max, unit }: { min: number; max?: number; unit: string }): SettingType<number> {
  return {
    placeholder: 'number',
    accepts: max === undefined ? `a whole number, at least ${min}` : `a whole number from ${min} to ${max}`,
    unit,
    toml: ['number'],
    parse: (text) => {
      const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
      return value >= min && value <= (max ?? Number.MAX_SAFE_INTEGER) ? value : undefined;
    },
  };
}

/** Decimal gigabytes as written, bytes as a value. */
export function gigabytes({ min }: { min: number }): SettingType<number> {
  return {
    placeholder: 'GB',
    accepts: `a number of gigabytes such as 2.0, from ${min} to 1000000`,
    unit: 'GB (10⁹ bytes)',
    toml: ['number'],
    parse: (text) => {
      const value = /^\d+(\.\d*)?$/.test(text) ? Number(text) : Number.NaN;
      return value >= min && value <= 1e6 ? Math.round(value * 1e9) : undefined;
    },
  };
}

const bytesPerUnit = { B: 1, KB: 1e3, MB: 1e6, GB: 1e9, TB: 1e12 } as const;

export const bytes: SettingType<number> = {
  placeholder: 'bytes',
  accepts: 'a number of bytes, or one with a unit such as 64KB, 500MB, 10GB (decimal), at least 1',
  unit: 'bytes, or KB, MB, GB, TB',
  toml: ['string', 'number'],
  parse: (text) => {
    const match = /^(\d+(?:\.\d+)?)\s*([KMGT]?B)?$/.exec(text.toUpperCase());
    const value = Math.round(Number(match?.[1]) * bytesPerUnit[(match?.[2] ?? 'B') as keyof typeof bytesPerUnit]);
    return value >= 1 && value <= Number.MAX_SAFE_INTEGER ? value : undefined;
  },
};

/** Text such as `90s`, milliseconds as a value. */
export function duration({ min, max }: { min: string; max: string }): SettingType<number> {
  const minMs = parseDurationMs(min);
  const maxMs = parseDurationMs(max);
  return {
    placeholder: 'duration',
    accepts: `seconds, or a duration such as 500ms, 90s, 15m, 12h, 7d, from ${min} to ${max}`,
    unit: 'duration',
    toml: ['string', 'number'],
    parse: (text) => {
      try {
        const value = parseDurationMs(text);
        return value >= minMs && value <= maxMs ? value : undefined;
      } catch {
        return undefined;
      }
    },
  };
}

/** A duration that a timer waits for. */
export const timeout = duration({ min: '1ms', max: `${maxTimerMs / 86_400_000}d` });

export const host: SettingType<string> = {
  placeholder: 'host',
  accepts: 'a host name or an IP address',
  unit: 'host',
  toml: ['string'],
  parse: parseHost,
};

export const port: SettingType<number> = {
  placeholder: 'port',
  accepts: 'a port from 0 to 65535; 0 lets the system choose',
  unit: 'port',
  toml: ['number'],
  parse: parsePort,
};

export const listenAddress: SettingType<ListenAddress> = {
  placeholder: 'host:port',
  accepts: 'host:port such as 127.0.0.1:9000 or [::1]:9000, with a port from 0 to 65535',
  unit: 'host:port',
  toml: ['string'],
  parse: parseListenAddress,
};

/** Unknown engines are refused when all settings are known. */
export const engineName: SettingType<string> = {
  placeholder: 'engine',
  accepts: 'the name of an engine: small letters, digits, _ and -',
  unit: 'name of an engine',
  toml: ['string'],
  parse: (text) => (isEngineName(text.toLowerCase()) ? text.toLowerCase() : undefined),
  show: (value) => value,
};

export const httpUrl: SettingType<string> = {
  placeholder: 'url',
  accepts: 'a base URL such as http://127.0.0.1:9000 (http or https, no query)',
  unit: 'URL',
  toml: ['string'],
  parse: parseHttpUrl,
  show: (value) => value,
};

export const hostNames: SettingType<readonly string[]> = {
  placeholder: 'names',
  accepts: '* or names without a port, such as frames.example.com or *.example.com, separated by commas',
  unit: 'list of names',
  toml: ['list', 'string'],
  parse: (text) => {
    const list = text.split(',').map((each) => each.trim().toLowerCase());
    return list.every(isHostName) ? list : undefined;
  },
};

function isHostName(text: string): boolean {
  return text === '*' || /^(\*\.)?[a-z0-9_-]+(\.[a-z0-9_-]+)*$/.test(text);
}

export const origins: SettingType<readonly string[]> = {
  placeholder: 'origins',
  accepts: '* or origins such as https://app.example.com, separated by commas',
  unit: 'list of origins',
  toml: ['list', 'string'],
  parse: (text) => {
    const list = text.split(',').map((each) => each.trim());
    return list.every(isOrigin) ? list : undefined;
  },
};

function isOrigin(text: string): boolean {
  return text === '*' || (/^https?:\/\//.test(text) && URL.canParse(text) && new URL(text).origin === text);
}

/** A share of all, from none to all. */
export const ratio: SettingType<number> = {
  placeholder: 'ratio',
  accepts: 'a number from 0 to 1',
  unit: 'ratio',
  toml: ['number'],
  parse: (text) => {
    const value = /^\d*\.?\d+$/.test(text) ? Number(text) : Number.NaN;
    return value >= 0 && value <= 1 ? value : undefined;
  },
};

export const word: SettingType<string> = {
  placeholder: 'name',
  accepts: 'a text without line breaks',
  unit: 'text',
  toml: ['string'],
  parse: (text) => (/^[^\p{Cc}]{1,200}$/u.test(text) ? text : undefined),
};

/** `name=value` by commas, with values percent-encoded, as OpenTelemetry has them in the environment. */
export const pairs: SettingType<ReadonlyMap<string, string>> = {
  placeholder: 'pairs',
  accepts: 'name=value, separated by commas; in a value %2C is a comma',
  unit: 'list of name=value',
  toml: ['list', 'string'],
  parse: (text) => {
    try {
      const list = text.split(',').map((pair) => /^\s*([\w.-]+)\s*=(.*)$/.exec(pair));
      if (list.some((match) => match === null)) return undefined;
      return new Map(list.map((match) => [match?.[1] ?? '', decodeURIComponent((match?.[2] ?? '').trim())]));
    } catch {
      return undefined;
    }
  },
};

export const logFilter: SettingType<LogFilter> = {
  placeholder: 'level',
  accepts: 'off, error, warn, info, debug or trace, or levels by area such as warn,http=debug',
  unit: 'level, or levels by area',
  toml: ['string'],
  parse: parseLogFilter,
};
