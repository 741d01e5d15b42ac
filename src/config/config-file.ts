import { parse, TomlError } from 'smol-toml';
import { didYouMean } from '../core/text/did-you-mean.ts';
import { type GivenValue, quoteValue } from './given-value.ts';
import { checkName, type NamedTable, namedSetting, namedTables } from './named-tables.ts';
import { type SettingRow, settingRows } from './setting-rows.ts';
import type { TomlKind } from './setting-type.ts';
import { UsageError } from './usage-error.ts';

const rowsByKey = new Map(settingRows.map((row) => [row.key, row]));
const sections = new Set([
  ...settingRows.map(({ section }) => section),
  ...namedTables.map(({ path }) => path.split('.')[0] ?? ''),
]);

/** The settings that a TOML file gives, by key. */
export function parseConfigFile(toml: string, file: string): ReadonlyMap<string, GivenValue> {
  const place = (key: string) => [file, lineOfKey(toml, key)].filter((part) => part !== undefined).join(':');
  const given = new Map<string, GivenValue>();
  for (const [section, table] of Object.entries(parseToml(toml, file))) {
    if (!sections.has(section)) throw unknownSection(section, table, place(section));
    if (!isTable(table)) {
      throw new UsageError(`${section} in ${place(section)} is a ${kindOf(table)}; expected a section [${section}]`);
    }
    for (const [key, value] of valuesOf(section, table, place)) given.set(key, value);
  }
  return given;
}

type Place = (key: string) => string;
type Values = Generator<readonly [key: string, value: GivenValue]>;

function* valuesOf(section: string, table: Readonly<Record<string, unknown>>, place: Place): Values {
  const ofSection = namedTable(section);
  if (ofSection !== undefined) {
    yield* namedValues(ofSection, table, place);
    return;
  }
  for (const [name, value] of Object.entries(table)) {
    const key = `${section}.${name}`;
    const named = namedTable(key);
    const row = rowsByKey.get(key);
    if (named !== undefined) yield* namedValues(named, value, place);
    else if (row === undefined) throw unknownKey(section, name, place(key));
    else yield [key, { text: textOf(value, row, place(key)), origin: place(key) }];
  }
}

function namedTable(path: string): NamedTable | undefined {
  return namedTables.find((each) => each.path === path);
}

/** The keys of each `[<path>.<name>]`. */
function* namedValues(named: NamedTable, tables: unknown, place: Place): Values {
  const { path } = named;
  if (!isTable(tables)) {
    throw new UsageError(`${path} in ${place(path)} is a ${kindOf(tables)}; expected sections [${path}.<name>]`);
  }
  for (const [name, table] of Object.entries(tables)) {
    const origin = place(`${path}.${name}`);
    checkName(named, name, origin);
    if (!isTable(table)) {
      throw new UsageError(`${path}.${name} in ${origin} is a ${kindOf(table)}; expected a section [${path}.${name}]`);
    }
    for (const [property, value] of Object.entries(table)) {
      const key = `${path}.${name}.${property}`;
      const setting = namedSetting(named, name, property, place(key));
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
  if (kind === 'table') return JSON.stringify(value);
  return Array.isArray(value) ? value.join(',') : String(value);
}

const tomlKindNames = {
  string: 'a string',
  number: 'a number',
  boolean: 'a boolean',
  list: 'a list of strings',
  table: 'a table of strings',
} as const satisfies Record<TomlKind, string>;

function kindOf(value: unknown): TomlKind | 'date' | 'list of other things' {
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
  const tables = namedTables.filter(({ path }) => path.startsWith(`${section}.`));
  const names = [...rows.map(({ key }) => key), ...tables.map(({ path }) => path)].map((key) =>
    key.slice(section.length + 1),
  );
  const hint = didYouMean(name, names) || `; [${section}] has ${names.join(', ')}`;
  return new UsageError(`unknown key ${section}.${name} in ${place}${hint}`);
}

/**
 * The line of a key (`section.key`) or a section. smol-toml gives no positions, so this looks for the usual forms: under its
 * `[section]`, dotted, or inside an inline table.
 */
function lineOfKey(toml: string, key: string): number | undefined {
  let section = '';
  let lineOfInlineTable: number | undefined;
  for (const [index, line] of toml.split('\n').entries()) {
    const header = /^\s*\[+([^\]]+)\]/.exec(line)?.[1];
    const assigned = /^\s*([\w."' -]+?)\s*=/.exec(line)?.[1];
    if (header !== undefined) section = plain(header);
    else if (assigned === undefined) continue;
    const path = header !== undefined ? section : [section, plain(assigned ?? '')].filter(Boolean).join('.');
    if (path === key) return index + 1;
    if (header === undefined && key.startsWith(`${path}.`)) lineOfInlineTable ??= index + 1;
  }
  return lineOfInlineTable;
}

function plain(key: string): string {
  return key.replace(/["'\s]/g, '');
}
