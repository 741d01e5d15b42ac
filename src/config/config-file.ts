import { parse, TomlError } from 'smol-toml';
import { didYouMean } from '../core/text/did-you-mean.ts';
import { checkEngineName, engineSetting, unknownEngineKey } from './engine-tables.ts';
import { type GivenValue, quoteValue } from './given-value.ts';
import { type SettingRow, settingRows } from './setting-rows.ts';
import type { TomlKind } from './setting-type.ts';
import { lineOfKey } from './toml-lines.ts';
import { UsageError } from './usage-error.ts';

const rowsByKey = new Map(settingRows.map((row) => [row.key, row]));
const sections = new Set([...settingRows.map(({ section }) => section), 'engines']);

/** The settings that a TOML file gives, by key. */
export function parseConfigFile(toml: string, file: string): ReadonlyMap<string, GivenValue> {
  const place = (key: string) => [file, lineOfKey(toml, key)].filter((part) => part !== undefined).join(':');
  const given = new Map<string, GivenValue>();
  for (const [section, table] of Object.entries(parseToml(toml, file))) {
    if (!sections.has(section)) throw unknownSection(section, table, place(section));
    if (!isTable(table)) {
      throw new UsageError(`${section} in ${place(section)} is a ${kindOf(table)}; expected a section [${section}]`);
    }
    if (section === 'engines') {
      for (const [key, value] of engineValues(table, place)) given.set(key, value);
      continue;
    }
    for (const [name, value] of Object.entries(table)) {
      const key = `${section}.${name}`;
      const row = rowsByKey.get(key);
      if (row === undefined) throw unknownKey(section, name, place(key));
      given.set(key, { text: textOf(value, row, place(key)), origin: place(key) });
    }
  }
  return given;
}

/** The keys of each `[engines.<name>]`. */
function* engineValues(
  engines: Readonly<Record<string, unknown>>,
  place: (key: string) => string,
): Generator<readonly [key: string, value: GivenValue]> {
  for (const [name, table] of Object.entries(engines)) {
    const origin = place(`engines.${name}`);
    checkEngineName(name, origin);
    if (!isTable(table)) {
      throw new UsageError(`engines.${name} in ${origin} is a ${kindOf(table)}; expected a section [engines.${name}]`);
    }
    for (const [property, value] of Object.entries(table)) {
      const key = `engines.${name}.${property}`;
      const setting = engineSetting(property);
      if (setting === undefined) throw unknownEngineKey(name, property, place(key));
      yield [key, { text: textOf(value, { ...setting, key }, place(key)), origin: place(key) }];
    }
  }
}

function parseToml(toml: string, file: string): Readonly<Record<string, unknown>> {
  try {
    return parse(toml.replace(/^\uFEFF/, ''));
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    const [reason] = error.message.split('\n');
    throw new UsageError(`${file}:${error.line}:${error.column} is not TOML: ${reason}`);
  }
}

function textOf(
  value: unknown,
  { key, type, mask = (text) => text }: Pick<SettingRow, 'key' | 'type' | 'mask'>,
  place: string,
): string {
  const kind = kindOf(value);
  if (!(type.toml as readonly string[]).includes(kind)) {
    const shown = kind === 'table' ? 'a table' : `the ${kind} ${mask(quoteToml(value))}`;
    const kinds = type.toml.map((each) => tomlKindNames[each]).join(' or ');
    throw new UsageError(`${key} is ${shown} (set in ${place}); expected ${kinds}: ${type.accepts}`);
  }
  return Array.isArray(value) ? value.join(',') : String(value);
}

const tomlKindNames = {
  string: 'a string',
  number: 'a number',
  boolean: 'a boolean',
  list: 'a list of strings',
} as const satisfies Record<TomlKind, string>;

function kindOf(value: unknown): TomlKind | 'table' | 'date' | 'list of other things' {
  if (Array.isArray(value)) return value.every((each) => typeof each === 'string') ? 'list' : 'list of other things';
  if (value instanceof Date) return 'date';
  const kind = typeof value;
  return kind === 'string' || kind === 'number' || kind === 'boolean' ? kind : 'table';
}

function quoteToml(value: unknown): string {
  return typeof value === 'string' ? quoteValue(value) : quoteValue(String(value)).slice(1, -1);
}

function isTable(value: unknown): value is Readonly<Record<string, unknown>> {
  return kindOf(value) === 'table';
}

function unknownSection(section: string, value: unknown, place: string): UsageError {
  const what = isTable(value) ? `section [${section}]` : `key ${section}`;
  const hint = didYouMean(section, sections) || `; the sections are ${[...sections].join(', ')}`;
  return new UsageError(`unknown ${what} in ${place}${hint}`);
}

function unknownKey(section: string, name: string, place: string): UsageError {
  const rows = settingRows.filter((row) => row.section === section);
  const names = rows.map(({ key }) => key.slice(section.length + 1));
  const hint = didYouMean(name, names) || `; [${section}] has ${names.join(', ')}`;
  return new UsageError(`unknown key ${section}.${name} in ${place}${hint}`);
}
