import { fileFormats } from '../../core/rows/file-format.ts';
import type { CommandTable, FlagTable } from './flag-table.ts';

const ofServer = {
  server: {
    value: 'URL',
    help: 'Server to talk to; else FRAMEHOLD_SERVER, [client] server of the config file, http://127.0.0.1:9000',
  },
  'ca-file': {
    value: 'FILE',
    help: 'For https: the authorities to trust, as PEM; else [client] ca_file, those of Node.js',
  },
  'cert-file': { value: 'FILE', help: 'For https: the certificate to show, as PEM; else [client] cert_file' },
  'key-file': { value: 'FILE', help: 'Its private key, as PEM; else [client] key_file' },
  config: { value: 'FILE', help: 'TOML file with the settings; else ~/.framehold/config.toml' },
} as const satisfies FlagTable;

const server = {
  tenant: { value: 'TENANT', help: 'For operators: the tenant to act in; else default' },
  ...ofServer,
} as const satisfies FlagTable;

const limit = { value: 'N', help: 'At most so many rows' } as const;
const coldDirectory = {
  value: 'DIR',
  help: 'The same, by its cold directory: where that is not in the data directory',
};
const json = { help: 'As JSON' } as const;

/** The commands that use a server, with their arguments. */
export const clientTables = {
  put: {
    summary: 'Hold files as frames',
    operands: { shown: 'FILE…', least: 1, most: Infinity },
    flags: {
      handle: { value: 'HANDLE', help: 'Handle of the frame; else the name of the file without its ending' },
      append: { help: 'Add the rows to the frame, or make it' },
      overwrite: { help: 'Replace the frame, or make it' },
      ttl: { value: 'TIME', help: 'Time to live, which starts again with each read: 90s, 15m, 12h, 7d' },
      format: { value: 'FORMAT', choices: fileFormats, help: 'Format of the files; else by ending or content' },
      delimiter: { value: 'C', help: 'What stands between the values of a CSV file; else found out' },
      'no-header': { help: 'The first line of a CSV file is a row, not the names of the columns; else found out' },
      'skip-bad-rows': { help: 'Leave out rows that cannot be read, instead of refusing the file' },
      verbose: { short: 'v', help: 'Tell the columns, how they were typed, and which rows were left out' },
      ...server,
    },
    notes: [
      'FILE may be - for standard input. Several files are several frames, unless --append and --handle make one of them.',
      'Files that are compressed with gzip or zstd are taken as they are. Arrow goes over Flight, all else over HTTP.',
    ],
    examples: [
      'framehold put trades.csv',
      'framehold put --handle trades --append monday.parquet tuesday.parquet',
      'curl -s https://example.com/prices.csv | framehold put - --handle prices --ttl 12h',
    ],
  },
  get: {
    summary: 'Fetch a frame, to a file or to standard output',
    operands: { shown: 'HANDLE', least: 1, most: 1 },
    flags: {
      output: { short: 'o', value: 'FILE', help: 'File to write; it appears when it is whole' },
      format: { value: 'FORMAT', choices: fileFormats, help: "Format; else by the file's ending, else csv" },
      limit,
      columns: { value: 'A,B', help: 'Only these columns, in this order; "a,b" in double quotes is one name' },
      ...server,
    },
    notes: ['x.arrow is written in the file format of Arrow (Feather); x.arrows, and standard output, as a stream.'],
    examples: [
      'framehold get trades -o trades.parquet',
      'framehold get trades --columns symbol,price --limit 10',
      'framehold get trades --format ndjson | jq .price',
    ],
  },
  follow: {
    summary: 'Print the rows of a frame, and those that come, until Ctrl-C',
    operands: { shown: 'HANDLE', least: 1, most: 1 },
    flags: {
      from: { value: 'N', help: 'Number of the first row, from 0; else only rows that come from now on' },
      format: {
        value: 'FORMAT',
        choices: ['table', 'ndjson', 'csv', 'tsv'],
        help: 'Format; else table on a terminal, csv elsewhere',
      },
      columns: { value: 'A,B', help: 'Only these columns, in this order; "a,b" in double quotes is one name' },
      where: { value: 'SQL', help: 'Only rows for which this predicate over the columns holds' },
      ...server,
    },
    notes: [
      'After a lost connection it goes on with the next row. It ends when the frame is dropped or its rows are replaced.',
    ],
    examples: [
      'framehold follow ticks',
      `framehold follow ticks --where "symbol = 'A' and price > 10"`,
      'framehold follow ticks --from 0 --format ndjson | jq .price',
    ],
  },
  ls: {
    summary: 'List the frames',
    operands: { shown: '[PREFIX]', least: 0, most: 1 },
    flags: { json, ...server },
    notes: [
      'Not on a terminal: a line each of handle, rows, bytes, created, expires and state, with tabs between them.',
    ],
    examples: ['framehold ls', 'framehold ls trades_ --json', 'framehold ls tmp_ | cut -f1 | xargs framehold rm'],
  },
  info: {
    summary: 'Describe a frame: rows, columns, sizes, version, expiry',
    operands: { shown: 'HANDLE', least: 1, most: 1 },
    flags: { json, ...server },
    notes: [],
    examples: ['framehold info trades'],
  },
  rm: {
    summary: 'Drop frames',
    operands: { shown: 'HANDLE…', least: 1, most: Infinity },
    flags: {
      'if-version': { value: 'N', help: 'Only while the frame is at this version' },
      ...server,
    },
    notes: ['Who is reading a frame reads it to its end.'],
    examples: ['framehold rm trades', 'framehold rm trades --if-version 3'],
  },
  flush: {
    summary: 'Bring rows that are only in the logs of frames into Parquet',
    operands: { shown: 'HANDLE…', least: 1, most: Infinity },
    flags: { ...server },
    notes: ['Appended rows are durable in a log at once and come into Parquet by themselves within a minute.'],
    examples: ['framehold flush trades'],
  },
  sql: {
    summary: 'Run SQL; without any, a prompt',
    operands: { shown: '[SQL]', least: 0, most: 1 },
    flags: {
      engine: {
        value: 'ENGINE',
        help: 'Where it runs: local, auto, tsdb, or one that `framehold engines` lists; else local',
      },
      format: {
        value: 'FORMAT',
        choices: ['table', ...fileFormats],
        help: "Form of the result; else by the file's ending, else table on a terminal and csv otherwise",
      },
      output: { short: 'o', value: 'FILE', help: 'File to write; it appears when it is whole' },
      limit: { value: 'N', help: 'At most so many rows; else all, but 100 in a table on a terminal' },
      param: { value: 'VALUE', repeated: true, help: 'Value of the next ? in the statement' },
      set: { value: 'NAME=VALUE', repeated: true, help: 'A setting of the statements, such as TimeZone=Europe/Berlin' },
      ...server,
    },
    notes: [
      'Without SQL it is a prompt on a terminal (\\? helps there); otherwise statements are read from standard input, each ended by ;.',
    ],
    examples: [
      'framehold sql "select symbol, max(price) from trades group by 1"',
      "framehold sql 'select * from trades where symbol = ? limit 5' --param BTC-USD",
      "framehold sql --set TimeZone=Europe/Berlin 'select current_date'",
      'framehold sql --engine spark "select count(*) from trades"',
      'framehold sql < report.sql > report.csv',
    ],
  },
  engines: {
    summary: 'List the engines that SQL can run on, and how they are',
    operands: { shown: '', least: 0, most: 0 },
    flags: { json, ...server },
    notes: [
      'Not on a terminal: a line each of name, kind, state, version and marks (default, auto), with tabs between them.',
    ],
    examples: ['framehold engines', 'framehold engines --json'],
  },
  queries: {
    summary: 'List the statements that are under way, and how far they are',
    operands: { shown: '', least: 0, most: 0 },
    flags: { json, ...server },
    notes: [
      'Not on a terminal: a line each of id, engine, time, progress and statement, with tabs between them.',
      'Those of tsdb are not among them: the external database lists its own.',
    ],
    examples: ['framehold queries', 'framehold queries | cut -f1'],
  },
  cancel: {
    summary: 'Stop statements that are under way',
    operands: { shown: 'ID…', least: 1, most: Infinity },
    flags: { ...server },
    notes: ['An ID is what `framehold queries` lists. Whoever waits for the statement is told that it was cancelled.'],
    examples: ['framehold cancel 7f3a-1c'],
  },
  token: {
    summary: 'Make, list, revoke and rotate the tokens that callers show',
    operands: { shown: 'create|ls|revoke|rotate [ID]', least: 1, most: 2 },
    flags: {
      name: { value: 'NAME', help: 'create: what or whom the token is for' },
      role: { value: 'ROLE', choices: ['read', 'write', 'admin', 'operator'], help: 'create: what it may do' },
      expires: { value: 'TIME', help: 'create: how long it is good for, such as 90d; else for ever' },
      prefix: { value: 'PREFIX', help: 'create: only handles that begin so' },
      overlap: { value: 'TIME', help: 'rotate: how long the old token stays good; else 24h' },
      json: { help: 'ls: as JSON' },
      'data-dir': {
        value: 'DIR',
        help: 'Work on the directory itself instead of a server, which may run or not: for the first token, or a lost one',
      },
      'parquet-path': coldDirectory,
      ...server,
    },
    notes: [
      'create and rotate print the token alone on standard output, once; only its hash is kept. ID is what ls lists.',
      'Servers of the directory know of a change within a second.',
    ],
    examples: [
      'framehold token create --role operator --name me --data-dir /data',
      'framehold token create --role write --name ci --expires 90d --prefix ci.',
      'framehold token create --role admin --name anna --tenant acme',
      'framehold token rotate 3f2a90c17b44 --overlap 1h',
    ],
  },
  tenant: {
    summary: 'Make, change, list and remove tenants',
    operands: { shown: 'create|set|ls|rm [NAME]', least: 1, most: 2 },
    flags: {
      'max-frames': { value: 'N', help: 'create, set: frames that it may hold' },
      'max-bytes': { value: 'BYTES', help: 'create, set: bytes of cold files that it may hold, such as 250KB or 10GB' },
      'max-rate': { value: 'N', help: 'create, set: requests a second, over HTTP and gRPC together' },
      'max-statements': { value: 'N', help: 'create, set: statements under way' },
      engines: {
        value: 'A,B',
        help: 'create, set: engines beside local: tsdb, analytics, or those of [engines.<name>]',
      },
      json: { help: 'ls: as JSON' },
      'data-dir': { value: 'DIR', help: 'Work on the directory itself instead of a server, which may run or not' },
      'parquet-path': coldDirectory,
      ...ofServer,
    },
    notes: [
      'For operators. set leaves what is not given; none removes a limit. rm needs a tenant without frames, and ends its tokens, shares, macros and types.',
      'ls, not on a terminal: a line each of name, the four limits and engines (*: all), with tabs between them.',
    ],
    examples: [
      'framehold tenant create acme --max-bytes 10GB --max-frames 1000',
      'framehold tenant set acme --max-rate 50 --engines analytics,spark',
      'framehold tenant set acme --max-rate none',
    ],
  },
  share: {
    summary: 'Let another tenant read a frame; without --with, list the tenants that may',
    operands: { shown: 'HANDLE', least: 1, most: 1 },
    flags: { with: { value: 'TENANT', help: 'Tenant that may read the frame from now on' }, ...server },
    notes: [
      'The other tenant names the frame owner/handle, in SQL owner.handle. The share ends when the frame is dropped.',
    ],
    examples: ['framehold share trades --with research', 'framehold share trades'],
  },
  unshare: {
    summary: 'End the share of a frame with a tenant',
    operands: { shown: 'HANDLE', least: 1, most: 1 },
    flags: { with: { value: 'TENANT', help: 'Tenant that may not read the frame any more' }, ...server },
    notes: ['Servers know of it within a second. Reads that have begun go on to their end.'],
    examples: ['framehold unshare trades --with research'],
  },
  whoami: {
    summary: 'Show whom the server takes you for',
    operands: { shown: '', least: 0, most: 0 },
    flags: { json, ...server },
    notes: [],
    examples: ['FRAMEHOLD_TOKEN=fh_… framehold whoami'],
  },
  ping: {
    summary: 'See whether the server is there, over HTTP and gRPC',
    operands: { shown: '', least: 0, most: 0 },
    flags: { ...server },
    notes: ['Exit code 1 when one of them is not.'],
    examples: ['framehold ping --server http://data.example.com:9000'],
  },
} as const satisfies Record<string, CommandTable>;

export type ClientTables = typeof clientTables;

const ofDirectory = {
  'data-dir': { value: 'DIR', help: 'Data directory; else the setting storage.data_dir' },
  'parquet-path': { value: 'DIR', help: 'Cold directory; else the setting storage.parquet_path' },
  'duckdb-path': { value: 'FILE', help: 'Analytics database; else the setting storage.duckdb_path' },
  config: { value: 'FILE', help: 'TOML file with the settings; else ~/.framehold/config.toml' },
} as const satisfies FlagTable;

/** The commands that work on a data directory, without a server. */
export const directoryTables = {
  backup: {
    summary: 'Copy the data directory to a folder of backups; safe beside running servers',
    operands: { shown: 'DEST', least: 1, most: 1 },
    flags: {
      keep: { value: 'N', help: 'Remove all backups older than the newest N complete ones afterwards; else all stay' },
      ...ofDirectory,
    },
    notes: [
      'Each backup is a folder below DEST with the UTC time of its beginning as its name, and is itself a data directory.',
      'A file that the backup before has already is a hard link to it, where the file system of DEST has them.',
      'Exit code 1 when something could not be copied: it is named, all else is in the backup, and no old backup is removed.',
    ],
    examples: [
      'framehold backup /mnt/backups --data-dir /data',
      'framehold backup /mnt/backups --data-dir /data --keep 14',
    ],
  },
  restore: {
    summary: 'Make a data directory of a backup',
    operands: { shown: 'SOURCE', least: 1, most: 1 },
    flags: ofDirectory,
    notes: [
      'SOURCE is one backup, or the folder of several: then the newest. The cold directory must be absent or empty.',
      'Every file is copied and its checksum verified. Exit code 1 when something of the backup is damaged, or was left out when the backup was made: it is named.',
    ],
    examples: [
      'framehold restore /mnt/backups --data-dir /data',
      'framehold restore /mnt/backups/2026-11-18T193000Z --data-dir /data',
    ],
  },
} as const satisfies Record<string, CommandTable>;

export type DirectoryTables = typeof directoryTables;

export const completionTable = {
  summary: 'Print what makes a shell complete our commands',
  operands: { shown: 'bash|zsh|fish', least: 1, most: 1, choices: ['bash', 'zsh', 'fish'] },
  flags: {},
  notes: [],
  examples: [
    'eval "$(framehold completion bash)"    # in ~/.bashrc',
    'eval "$(framehold completion zsh)"     # in ~/.zshrc, below compinit',
    'framehold completion fish > ~/.config/fish/completions/framehold.fish',
  ],
} as const satisfies CommandTable;

/** The commands whose flags are the settings. */
export const serverSummaries = {
  server: 'Serve frames over HTTP and gRPC until SIGINT or SIGTERM',
  config: 'Print every setting, its value and where the value came from',
  doctor: 'Check this machine for a server with these settings, and tell what each finding means',
  verify: 'Check every frame of the data directory against its checksum; safe beside a running server',
} as const;

/** Arguments of such a command beside the settings. */
export const serverFlags: Readonly<Partial<Record<keyof typeof serverSummaries, FlagTable>>> = {
  doctor: { json },
  verify: {
    repair: {
      help: 'Remove what can be made again and is damaged or left over, and name what is lost; no server may run on the directory',
    },
  },
};
