import { type NamedTable, namedTables } from '../../src/config/named-tables.ts';
import { type SettingRow, settingRows } from '../../src/config/setting-rows.ts';

/** A complete config.toml: settings with a fixed default have it, the rest are comments with an example. */
export function sampleConfig(): string {
  const sections = [...new Set(settingRows.map(({ section }) => section))];
  const tables = sections.map((section) => `[${section}]\n${linesOf(section).join('\n')}\n`);
  return [...tables, ...namedTables.map(namedSample)].join('\n');
}

/** A name that an operator might choose. */
const exampleNames: Readonly<Record<string, string>> = {
  engines: 'spark',
  'auth.issuers': 'corp',
  'auth.certificates': 'etl',
};

function namedSample({ path, settings }: NamedTable): string {
  const lines = Object.entries(settings).map(([key, setting]) => `# ${key} = ${tomlValue(setting, setting.example)}`);
  return `# [${path}.${exampleNames[path]}]\n${lines.join('\n')}\n`;
}

function linesOf(section: string): readonly string[] {
  return settingRows.filter((row) => row.section === section).map(lineOf);
}

function lineOf(row: SettingRow): string {
  const name = row.key.slice(row.section.length + 1);
  return typeof row.default === 'string'
    ? `${name} = ${tomlValue(row, row.default)}`
    : `# ${name} = ${tomlValue(row, row.example ?? '')}`;
}

function tomlValue({ type }: Pick<SettingRow, 'type'>, text: string): string {
  if (type.toml.includes('table')) return `{ ${text.replaceAll(/([^=,]+)=([^,]+)/g, ' $1 = "$2"').trim()} }`;
  if (type.toml.includes('list'))
    return `[${text
      .split(',')
      .map((each) => JSON.stringify(each))
      .join(', ')}]`;
  const isBare = type.toml.includes('boolean') || (type.toml.includes('number') && !Number.isNaN(Number(text)));
  return isBare ? text : JSON.stringify(text);
}
