import {
  clientTables,
  completionTable,
  directoryTables,
  serverSummaries,
} from '../../src/cli/framework/command-tables.ts';
import { type CommandTable, flagUsage } from '../../src/cli/framework/flag-table.ts';
import { checks } from '../../src/doctor/checks.ts';

/** docs/reference/cli.md, made from the tables of the commands. */
export function cliPage(): string {
  const tables: readonly (readonly [string, CommandTable])[] = [
    ...Object.entries(clientTables),
    ...Object.entries(directoryTables),
    ['completion', completionTable],
  ];
  return `${introduction()}
${doctor()}
${tables.map(([name, table]) => section(name, table)).join('\n')}
${prompt()}`;
}

function introduction(): string {
  const rows = [
    ...Object.entries(directoryTables),
    ...Object.entries(clientTables),
    ['completion', completionTable] as const,
  ].map(([name, { summary }]) => `| [\`${name}\`](#${name}) | ${summary} |`);
  const serverRows = Object.entries(serverSummaries).map(
    ([name, summary]) => `| ${name === 'doctor' ? '[`doctor`](#doctor)' : `\`${name}\``} | ${summary} |`,
  );
  return `<!-- Made by scripts/generate-docs.mjs from src/cli/framework/command-tables.ts; do not edit. -->
# The command line

\`framehold <command> [flags]\`. \`framehold <command> --help\` shows what a command takes, \`framehold --version\` the version.
In a clone, once \`npm start\` has built it, \`alias framehold="node $PWD/dist/main.js"\` gives the command its name.

| command | |
|---|---|
${serverRows.join('\n')}
${rows.join('\n')}

The flags of \`server\`, \`config\`, \`doctor\` and \`verify\` are the [settings](settings.md). \`verify --repair\` removes what can be
made again and is damaged or left over, and names what is lost; no server may run on the directory then. \`backup\` and \`restore\` work on
the directory itself. All other commands are clients: they talk to a running server over [HTTP](http.md) and [Arrow Flight](grpc.md) like
anyone else, and need nothing of it on their own machine.

**Which server.** The first of these that is there: \`--server http://host:port\`, \`FRAMEHOLD_SERVER\`, \`SERVICE_SERVER\`, \`server\` under
\`[client]\` in the config file, \`http://127.0.0.1:9000\`. Where gRPC listens, the server tells; where only HTTP comes through (a
forwarded port, a proxy), Arrow goes over HTTP as well.

**Files.** \`.csv\`, \`.tsv\`, \`.parquet\`, \`.arrow\` (\`.arrows\`, \`.feather\`), \`.json\` and \`.ndjson\` (\`.jsonl\`) name their format; \`--format\`
does for others. What is fetched into a file has another name (\`.trades.csv.….part\`) until it is whole and on disk.

**On a terminal** results are tables, cut to its width: numbers to the right, NULL dim, no colours where \`NO_COLOR\` is set. What takes
more than a second tells how far it is, on standard error. **In a pipe** there is neither: results are CSV, lists have tabs.

**Exit codes.** 0 all was done; 1 something was not, and one line on standard error says what and why: \`framehold: what (what to do)\`; 2
wrong usage or configuration; 130 a client was stopped by Ctrl-C, and the line says what was not done.

| what happened | what to do |
|---|---|
| no server answers | start one, or name another with \`--server\` |
| the connection broke in mid-transfer | run the same command again: nothing of a broken upload is kept, and no file of a broken download is left |
| it broke after all was sent | \`framehold info HANDLE\` tells whether the frame is held |
| the handle is taken | \`--overwrite\` or \`--append\` |
| the server is overloaded (503) | try again after the seconds that it names |
`;
}

function doctor(): string {
  const rows = Object.entries(checks).map(([name, { looksAt, remedy }]) => `| \`${name}\` | ${looksAt} | ${remedy} |`);
  return `## doctor

\`framehold doctor\`: ${serverSummaries.doctor}. It takes the flags, the environment and the file of
\`framehold server\`, and \`--json\`. It needs no server, and works beside one. Everything that it makes is removed again, also after Ctrl-C.
A run takes about a second, and ten at most where a disk or another program does not answer.

Each line is one check: its level, its name, the measured value, and where that is not ok, the meaning and the remedy. At the end
stands how many there are of each level. The exit code is 1 where a check fails, 2 where a setting is wrong, else 0.

| level | |
|---|---|
| \`ok\` | nothing to do |
| \`note\` | it works, and there is something to know |
| \`warn\` | it works until more is asked of it, or not all of it works |
| \`fail\` | the server does not start, or cannot do its work |

Checks of what the settings do not have (TLS, an external database, engines, issuers, a collector, further listeners) are left out.

| check | looks at | where it is not ok |
|---|---|---|
${rows.join('\n')}
`;
}

function section(name: string, { summary, operands, flags, notes, examples }: CommandTable): string {
  const rows = Object.entries(flags).map(([flag, spec]) => {
    const choices = spec.choices === undefined ? '' : `: ${spec.choices.map((each) => `\`${each}\``).join(', ')}`;
    return `| \`${flagUsage(flag, spec)}\` | ${spec.help.replaceAll('|', '\\|')}${choices} |`;
  });
  const blocks = [
    `## ${name}`,
    `\`framehold ${[name, operands.shown].filter(Boolean).join(' ')}\`: ${summary}.`,
    notes.join('\n'),
    rows.length === 0 ? '' : `| flag | |\n|---|---|\n${rows.join('\n')}`,
    `\`\`\`sh\n${examples.join('\n')}\n\`\`\``,
  ];
  return `${blocks.filter((block) => block !== '').join('\n\n')}\n`;
}

function prompt(): string {
  return `## The prompt of \`framehold sql\`

Statements end with \`;\` and may take several lines. What was typed is kept in \`~/.framehold/history\`.

| | |
|---|---|
| \`\\d\` | the frames |
| \`\\d HANDLE\` | one of them, with its columns |
| \`\\engines\` | what SQL can run on |
| \`\\engine NAME\` | run statements there from now on |
| \`\\timing\` | tell how long each statement takes, or no longer |
| \`\\?\` | help |
| \`\\q\`, Ctrl-D | leave |
| Ctrl-C | drop what is typed, or cancel the statement that runs |
`;
}
