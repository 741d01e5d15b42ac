import { environmentPrefixes, type NamedTable, namedTables } from '../../src/config/named-tables.ts';
import { configFileNames, type SettingRow, settingRows } from '../../src/config/setting-rows.ts';
import { sampleConfig } from './sample-config.ts';

const sectionTitles: Readonly<Record<string, string>> = {
  storage: 'Where frames are kept',
  server: 'The gRPC listener, and stopping',
  http: 'The HTTP listener',
  tsdb: 'The external time-series database',
  sql: 'Local SQL',
  frames: 'Frames',
  auth: 'Who may come in',
  compression: 'Compression of Parquet files',
  metrics: 'Metrics',
  otel: 'Traces',
  logging: 'Logs',
  client: 'The commands that talk to a server',
};

/** docs/reference/settings.md, made from the table of settings. */
export function settingsPage(): string {
  const sections = [...new Set(settingRows.map(({ section }) => section))];
  return `${introduction()}
${sections.map(sectionTable).join('\n')}
${namesText()}
${namedTables.map(namedTable).join('\n')}
${sample()}`;
}

function introduction(): string {
  return `<!-- Made by scripts/generate-docs.mjs from src/config; do not edit. -->
# Settings

Every setting can be given in three ways. The first of them that is there wins:

1. on the command line: \`framehold server --grpc-port 50053\` (or \`--grpc-port=50053\`);
2. in the environment: \`FRAMEHOLD_GRPC_PORT=50053\`, or \`SERVICE_GRPC_PORT=50053\`, or a bare name where the tables show one, in this order;
3. in the config file: \`grpc_port = 50053\` under \`[server]\`.

Otherwise the default holds. An empty text counts as not given. \`framehold config\` prints every setting, its value, and where
the value came from.

For example, with \`grpc_port = 1111\` in the config file:

| command | gRPC port |
|---|---|
| \`framehold server\` | 1111 |
| \`SERVICE_GRPC_PORT=2222 framehold server\` | 2222 |
| \`SERVICE_GRPC_PORT=2222 FRAMEHOLD_GRPC_PORT=3333 framehold server\` | 3333 |
| \`FRAMEHOLD_GRPC_PORT=3333 framehold server --grpc-port 4444\` | 4444 |
| \`FRAMEHOLD_GRPC_PORT= framehold server\` | 1111 |

The config file is \`~/.framehold/config.toml\`, or \`~/.service/config.toml\` where the first does not exist. \`${configFileNames.flag} FILE\` or
${configFileNames.envNames.map(code).join(', ')} names another, which must then exist.

Settings that are marked *reload* change while the server runs, by SIGHUP ([Reload](../guides/operating.md#reload)). The others need a restart.

A value that is wrong, an unknown flag, and an unknown key or section in the file stop the start with one line, exit code 2:

\`\`\`
framehold: server.grpc_port is "70000" (set by FRAMEHOLD_GRPC_PORT); expected a port from 0 to 65535; 0 lets the system choose
\`\`\`

How values are written:

- A **duration** is a number of seconds, or a number with a unit: \`500ms\`, \`90s\`, \`15m\`, \`12h\`, \`7d\`. In TOML those with a unit are strings.
- **Sizes** are decimal: 1 GB is 1,000,000,000 bytes.
- A **path** may begin with \`~/\`. A relative one begins where the server was started.
- A **boolean** on the command line is \`--demo\`, \`--no-demo\` or \`--demo=false\`; in the environment \`true\`, \`false\`, \`1\`, \`0\`, \`yes\`, \`no\`, \`on\`, \`off\`.
- A **list** is a TOML list of strings; elsewhere its parts are separated by commas.
- A **log level** is one of \`off\`, \`error\`, \`warn\`, \`info\`, \`debug\`, \`trace\`, in any case, or directives by area: \`warn,http=debug\` logs debug
  messages of the area \`http\` and warnings of all others. Areas without a directive log at \`info\` when no level stands on its own.

In Kubernetes, a Service named \`framehold-grpc\` makes the cluster set \`FRAMEHOLD_GRPC_PORT=tcp://…\` in every pod, which is no port.
Name it otherwise, or set \`enableServiceLinks: false\`.
`;
}

function sectionTable(section: string): string {
  const rows = settingRows.filter((row) => row.section === section).map(tableRow);
  return `## [${section}] ${sectionTitles[section] ?? ''}

| TOML key | flag | environment | default | unit or values | meaning |
|---|---|---|---|---|---|
${rows.join('\n')}
`;
}

function tableRow({ key, flag, envNames, default: fallback, type, help, reload }: SettingRow): string {
  const shown = typeof fallback === 'object' ? fallback.shown : fallback;
  const cells = [
    keyCell(key, reload === true),
    code(flag),
    envNames.map(code).join('<br>'),
    shown === undefined ? 'unset' : code(shown),
    type.unit,
    help,
  ];
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
}

function keyCell(key: string, reload: boolean): string {
  return reload ? `${code(key)}<br>*reload*` : code(key);
}

/** The texts before and behind the table of keys. */
const namedTexts: Readonly<Record<string, { title: string; before: string; behind?: string }>> = {
  engines: {
    title: 'Engines of other machines',
    before: `A section for each; its name is what \`engine=\` takes, and none of \`local\`, \`tsdb\` and \`auto\`.`,
    behind: `
The options of \`url\` stand behind \`/;\`, each once, as \`name=value\` with \`;\` between them; in a value \`;\` is written \`%3B\`.

| option | |
|---|---|
| \`token\` | sent as \`Authorization: Bearer …\` with every call |
| \`use_ssl\` | \`true\` or \`false\`; default \`true\` where there is a token and the host is another machine |
| \`user_id\` | as whom statements run; default \`framehold\` |
| \`user_agent\` | what Framehold calls itself |
| \`x-…\` | a header of every call |
`,
  },
  'auth.issuers': {
    title: 'Whose JWTs are taken',
    before: `A section for each issuer. [Who may come in](../guides/access.md) shows one at work.`,
  },
  'auth.certificates': {
    title: 'Who the holders of client certificates are',
    before: `A section for each rule. URIs are looked at first, then DNS names, then the common name; a certificate that no rule
fits is refused.`,
  },
};

function namedTable(table: NamedTable): string {
  const { path, settings, reload } = table;
  const { title, before, behind = '' } = namedTexts[path] ?? { title: '', before: '' };
  const prefixes = environmentPrefixes(table);
  const lines = Object.entries(settings).map(([key, { default: fallback, type, help }]) => {
    const shown = fallback === undefined ? 'unset' : typeof fallback === 'object' ? 'required' : code(fallback);
    const names = prefixes.map((prefix) => code(`${prefix}<NAME>_${key.toUpperCase()}`)).join('<br>');
    return `| ${[keyCell(`${path}.<name>.${key}`, reload), names, shown, type.unit, help].join(' | ')} |`;
  });
  return `## [${path}.<name>] ${title}

${before}

| TOML key | environment | default | unit or values | meaning |
|---|---|---|---|---|
${lines.join('\n')}
${behind}`;
}

function namesText(): string {
  return `The sections below have names that the operator chooses: small letters, digits, \`_\` and \`-\`, a letter first, at most 64 of them.
Their keys have no flags. In the environment a name is in capitals, with \`_\` for \`-\`: \`FRAMEHOLD_ENGINES_SPARK_URL\` is \`url\` of \`[engines.spark]\`,
which need not stand in the file.
`;
}

function sample(): string {
  return `## A complete config.toml

What has a fixed default is shown with it; the rest stands in comments, with an example.

\`\`\`toml
${sampleConfig().trimEnd()}
\`\`\`
`;
}

function code(text: string): string {
  return `\`${text}\``;
}
