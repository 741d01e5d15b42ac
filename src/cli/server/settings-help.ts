import { configFileNames, type SettingRow, settingRows } from '../../config/setting-rows.ts';
import { configFileSetting } from '../../config/settings.ts';
import { type FlagTable, flagUsage } from '../framework/flag-table.ts';

/** The flags of the server with their meanings, from the table of settings. `own`: of the command alone. */
export function settingsHelp(own: FlagTable = {}): string {
  const ownEntries = Object.entries(own).map(([name, flag]) => `  ${flagUsage(name, flag)}\n      ${flag.help}\n`);
  const blocks = [...new Set(settingRows.map(({ section }) => section))].map((section) => {
    const rows = settingRows.filter((row) => row.section === section);
    return `${section}:\n${rows.map(flagHelp).join('')}`;
  });
  const first = ownEntries.length === 0 ? '' : `Flags:\n${ownEntries.join('')}\n`;
  return `${first}${blocks.join('\n')}
file:
${entry(`${configFileNames.flag} <path>`, configFileSetting.help, configFileSetting.default)}
A flag wins over the environment, the environment over the file.
--grpc-port is FRAMEHOLD_GRPC_PORT in the environment and grpc_port under [server] in the file; all others alike:
docs/reference/settings.md lists the names. Durations: seconds, or 500ms, 90s, 15m, 12h, 7d.
`;
}

function flagHelp({ flag, type, default: fallback, help }: SettingRow): string {
  const shown = typeof fallback === 'object' ? fallback.shown : (fallback ?? 'unset');
  if (!type.toml.includes('boolean')) return entry(`${flag} <${type.placeholder}>`, help, shown);
  return entry(shown === 'true' ? flag.replace(/^--/, '--[no-]') : flag, help, shown);
}

function entry(flag: string, help: string, fallback: string): string {
  return `  ${flag}\n      ${help} (default: ${fallback})\n`;
}
