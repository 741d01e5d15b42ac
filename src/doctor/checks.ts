/** The checks of `framehold doctor`, in the order of its lines: the tested facts, and the remedies. */
export const checks = {
  config: {
    looksAt: 'the settings, as `framehold server` would read them',
    remedy: 'a wrong setting is one line and exit code 2',
  },
  node: {
    looksAt: 'version of Node.js, processor, C library',
    remedy: 'install a version that package.json allows, on a system with glibc',
  },
  duckdb: {
    looksAt: 'a DuckDB process starts and answers a statement',
    remedy: 'run `npm ci` on this machine, so that the library for its processor is there',
  },
  kernel: {
    looksAt: 'Landlock, which confines SQL of a tenant to files of that tenant',
    remedy: 'Linux 5.13 or later with Landlock among its security modules; 6.7 or later for the network',
  },
  shm: {
    looksAt: 'free space of `/dev/shm`, 16 MB for each DuckDB process',
    remedy: '`docker run --shm-size`, or a larger tmpfs',
  },
  memory: {
    looksAt:
      'memory of the machine or the container against `storage.cache_size_gb` and `sql.memory_gb` of each process',
    remedy: 'lower `sql.workers`, `sql.memory_gb` or `storage.cache_size_gb`, or give more memory',
  },
  cpu: { looksAt: 'processors of the machine or the container against `sql.workers`', remedy: 'set `sql.workers`' },
  files: {
    looksAt: 'limit of open files against connections and processes',
    remedy: '`LimitNOFILE` (systemd), `ulimit -n`, or fewer `max_connections`',
  },
  processes: {
    looksAt: 'limit of processes and threads',
    remedy: '`TasksMax` (systemd), `--pids-limit` (Docker), `ulimit -u`',
  },
  data: {
    looksAt: 'the data directory: is there or can be made, can be written, free space',
    remedy: 'name another with `storage.data_dir`, or give it to the user of the server',
  },
  cold: {
    looksAt:
      'the directory of the frames: the same, and file system, hard links, rename, O_DSYNC, fsync of a folder, all really tried',
    remedy: 'a local file system, or NFSv4 ([Several servers](../guides/scale-out.md))',
  },
  format: {
    looksAt: 'the format of the directory of the frames is one that this version reads',
    remedy: 'start the version that the line names, or restore a backup ([Storage](../guides/storage.md#format))',
  },
  permissions: {
    looksAt:
      'what other users of the machine may do with the frames, tokens and the analytics database, against `storage.umask`',
    remedy: '`chmod`, as the line has it, or `storage.umask` where the group may see them',
  },
  fsync: {
    looksAt: 'time of 20 small durable writes there; each append takes at least one',
    remedy: 'a disk that is faster, or that others do not use',
  },
  analytics: { looksAt: '`storage.duckdb_path` names a DuckDB file, or none', remedy: 'name another file' },
  audit: { looksAt: '`audit.file` can be written', remedy: 'a path in a directory that the server may write to' },
  clock: {
    looksAt: 'synchronisation; difference to the file system and to the issuers of tokens, of which 60 s are allowed',
    remedy: 'run chrony or systemd-timesyncd on the machine',
  },
  http: {
    looksAt: '`http.bind_address` is free',
    remedy: 'stop the program that the line names, or choose another address',
  },
  grpc: { looksAt: '`server.grpc_host` and `server.grpc_port` are free', remedy: 'the same' },
  health: { looksAt: '`server.health_address` is free', remedy: 'the same' },
  metrics: { looksAt: '`metrics.bind_address` is free', remedy: 'the same' },
  tls: {
    looksAt: 'the files of `[tls]`, whether they fit, days left, who can read the key',
    remedy: 'renew the certificate; `chmod 600` the key',
  },
  security: {
    looksAt: 'addresses that others reach, without authentication or TLS',
    remedy: '[Access](../guides/access.md)',
  },
  tsdb: { looksAt: '`tsdb.http_url` answers', remedy: 'start the database, or correct the URL' },
  engine: { looksAt: 'each of `[engines]` answers', remedy: 'start it, or correct its `url`' },
  issuer: {
    looksAt: 'each of `[auth.issuers]` gives its discovery document and its keys',
    remedy: 'let the server reach it; until then its tokens are refused',
  },
  otel: {
    looksAt: '`otel.endpoint` accepts connections',
    remedy: 'start the collector; without it traces are lost, and nothing else',
  },
} as const satisfies Record<string, { readonly looksAt: string; readonly remedy: string }>;

export type CheckName = keyof typeof checks;
