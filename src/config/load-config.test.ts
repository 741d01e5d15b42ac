import { describe, expect, it } from 'vitest';
import { complaint, defaultFile, type Given, home, load, sources } from '../../test/support/config-sources.ts';
import { loadClientConfig } from './load-config.ts';
import { settingRows } from './setting-rows.ts';

function shown(key: string, given: Given) {
  return load(given).settings.find((setting) => setting.key === key);
}

describe('without any setting', () => {
  it('the defaults make a complete configuration', () => {
    expect(load({}).config).toEqual({
      storage: {
        dataDir: '/home/ada/.framehold/data',
        parquetPath: '/home/ada/.framehold/data/cold',
        duckdbPath: '/home/ada/.framehold/data/analytics.duckdb',
        cacheSizeBytes: 1_000_000_000,
        umask: 0o077,
      },
      server: {
        grpcHost: '0.0.0.0',
        grpcPort: 50052,
        maxConnections: 100,
        bodyMemoryBytes: 400_000_000,
        maxFollowers: 10000,
        progressIntervalMs: 5000,
        shutdownDelayMs: 0,
        shutdownGraceMs: 10_000,
        healthAddress: undefined,
      },
      http: {
        bindAddress: { host: '0.0.0.0', port: 9000 },
        defaultFmt: undefined,
        requestTimeoutMs: 60_000,
        headerTimeoutMs: 10_000,
        idleTimeoutMs: 10_000,
        stallTimeoutMs: 30_000,
        maxLimit: undefined,
        maxBodyBytes: 10_000_000_000,
        minBodyBytesPerSecond: 1000,
        maxConcurrentRequests: 256,
        maxConnections: 2000,
        console: true,
        hosts: undefined,
        corsOrigins: undefined,
        compression: true,
      },
      write: { addsColumns: false, maxBodyBytes: 105_000_000 },
      tsdb: {
        httpUrl: undefined,
        timeoutMs: 60_000,
        connectTimeoutMs: 2000,
        maxConnections: 32,
        maxQueue: 64,
        maxExports: 2,
        maxFederatedBytes: 4e9,
        federationTimeoutMs: 60_000,
        federationCacheMs: 0,
      },
      sql: {
        defaultEngine: 'tsdb',
        autoEngine: undefined,
        autoThresholdBytes: 4_000_000_000,
        timeoutMs: 30_000,
        slowThresholdMs: 10_000,
        workers: 4,
        threads: 1,
        memoryBytes: 1_000_000_000,
        maxQueue: 1000,
      },
      frames: { defaultTtlMs: undefined, tombstoneTtlMs: 2_592_000_000, scrubIntervalMs: 604_800_000, demo: false },
      auth: {
        enabled: false,
        anonymous: undefined,
        jwksMaxStaleMs: 86_400_000,
        maxFailedLogins: 10,
        issuers: new Map(),
        certificates: new Map(),
      },
      tls: {
        certFile: undefined,
        keyFile: undefined,
        clientAuth: 'off',
        clientCaFile: undefined,
        crlFile: undefined,
        minVersion: '1.2',
      },
      audit: { file: undefined, onFailure: undefined },
      metrics: { bindAddress: undefined },
      otel: {
        endpoint: undefined,
        headers: undefined,
        sampler: 'parentbased_always_on',
        samplerRatio: 1,
        serviceName: 'framehold',
        resourceAttributes: undefined,
      },
      compression: { algorithm: 'zstd', level: 19 },
      logging: { filter: { level: 'info', areas: {} }, format: 'json' },
      client: {
        server: 'http://127.0.0.1:9000',
        tokenFile: undefined,
        caFile: undefined,
        certFile: undefined,
        keyFile: undefined,
      },
      engines: new Map(),
    });
  });

  it('logs are pretty on a terminal', () => {
    expect(load({}, { stderrIsTerminal: true }).config.logging.format).toBe('pretty');
  });

  it('a machine with one core still gets two SQL workers', () => {
    expect(load({}, { coreCount: 1 }).config.sql.workers).toBe(2);
  });

  it('the configuration is frozen to its leaves', () => {
    const { config } = load({ argv: ['--http-cors-origins', '*'] });
    expect(Object.isFrozen(config)).toBe(true);
    expect(Object.isFrozen(config.http.bindAddress)).toBe(true);
    expect(Object.isFrozen(config.http.corsOrigins)).toBe(true);
    expect(Object.isFrozen(config.logging.filter.areas)).toBe(true);
  });
});

describe("the specification's environment", () => {
  const cases = [
    ['HTTP_BIND_ADDRESS', '127.0.0.1:8080', 'http', 'bindAddress', { host: '127.0.0.1', port: 8080 }],
    ['TSDB_HTTP_URL', 'http://quest:9000', 'tsdb', 'httpUrl', 'http://quest:9000'],
    ['GRPC_HOST', '127.0.0.1', 'server', 'grpcHost', '127.0.0.1'],
    ['GRPC_PORT', '50053', 'server', 'grpcPort', 50053],
    ['PARQUET_PATH', '/data/cold', 'storage', 'parquetPath', '/data/cold'],
    ['DUCKDB_PATH', '/data/analytics.duckdb', 'storage', 'duckdbPath', '/data/analytics.duckdb'],
    ['CACHE_SIZE', '2.0', 'storage', 'cacheSizeBytes', 2_000_000_000],
    ['LOG_LEVEL', 'WARN', 'logging', 'filter', { level: 'warn', areas: {} }],
  ] as const;

  it.each(cases)('FRAMEHOLD_%s and SERVICE_%1$s are read', (name, text, section, property, value) => {
    for (const prefix of ['FRAMEHOLD', 'SERVICE']) {
      const { config } = load({ env: { [`${prefix}_${name}`]: text } });
      expect(config[section]).toMatchObject({ [property]: value });
    }
  });

  it('the variables of OpenTelemetry are read by their own names', () => {
    const { config } = load({
      env: {
        OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318/',
        OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20a%2Cb,x-tenant=acme',
        OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
        OTEL_TRACES_SAMPLER_ARG: '0.25',
        OTEL_SERVICE_NAME: 'frames',
        OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=production',
      },
    });
    expect(config.otel).toEqual({
      endpoint: 'http://collector:4318',
      headers: new Map([
        ['authorization', 'Bearer a,b'],
        ['x-tenant', 'acme'],
      ]),
      sampler: 'parentbased_traceidratio',
      samplerRatio: 0.25,
      serviceName: 'frames',
      resourceAttributes: new Map([['deployment.environment.name', 'production']]),
    });
  });

  it('TSDB_HTTP_URL and RUST_LOG are read by their bare names', () => {
    const { config } = load({ env: { TSDB_HTTP_URL: 'https://quest/', RUST_LOG: 'warn,http=debug' } });
    expect(config.tsdb.httpUrl).toBe('https://quest');
    expect(config.logging.filter).toEqual({ level: 'warn', areas: { http: 'debug' } });
  });

  it('FRAMEHOLD_ goes before SERVICE_, and both before a bare name', () => {
    const env = { TSDB_HTTP_URL: 'http://c', SERVICE_TSDB_HTTP_URL: 'http://b', FRAMEHOLD_TSDB_HTTP_URL: 'http://a' };
    expect(load({ env }).config.tsdb.httpUrl).toBe('http://a');
    expect(load({ env: { ...env, FRAMEHOLD_TSDB_HTTP_URL: '' } }).config.tsdb.httpUrl).toBe('http://b');
    expect(load({ env: { TSDB_HTTP_URL: env.TSDB_HTTP_URL } }).config.tsdb.httpUrl).toBe('http://c');
  });

  it('FRAMEHOLD_LOG_LEVEL wins over RUST_LOG, and RUST_LOG over the file', () => {
    const toml = '[logging]\nlevel = "error"';
    const env = { RUST_LOG: 'http=debug', FRAMEHOLD_LOG_LEVEL: 'Trace' };
    expect(load({ env, toml }).config.logging.filter).toEqual({ level: 'trace', areas: {} });
    expect(load({ env: { RUST_LOG: 'debug' }, toml }).config.logging.filter.level).toBe('debug');
  });
});

describe('the config file', () => {
  it("takes every key of the specification's table", () => {
    const { config, configFile } = load({
      toml: `
        [storage]
        parquet_path = "/data/cold"
        duckdb_path = "/data/analytics.duckdb"
        cache_size_gb = 2.0
        [server]
        grpc_host = "0.0.0.0"
        grpc_port = 50052
        max_connections = 100
        [compression]
        algorithm = "zstd"
        level = 19
        [logging]
        level = "info"
        format = "json"`,
    });
    expect(configFile).toBe(defaultFile);
    expect(config.storage).toMatchObject({
      parquetPath: '/data/cold',
      duckdbPath: '/data/analytics.duckdb',
      cacheSizeBytes: 2e9,
    });
    expect(config.server).toMatchObject({ grpcHost: '0.0.0.0', grpcPort: 50052, maxConnections: 100 });
    expect(config.compression).toEqual({ algorithm: 'zstd', level: 19 });
    expect(config.logging).toEqual({ filter: { level: 'info', areas: {} }, format: 'json' });
  });

  it('takes durations, sizes and lists in their natural forms', () => {
    const { config } = load({
      toml: 'sql = { timeout = 5 }\n[http]\nrequest_timeout = "1m"\nmax_body = "500MB"\ncors_origins = ["http://a", "http://b"]',
    });
    expect(config.sql.timeoutMs).toBe(5000);
    expect(config.http).toMatchObject({
      requestTimeoutMs: 60_000,
      maxBodyBytes: 500_000_000,
      corsOrigins: ['http://a', 'http://b'],
    });
  });

  it('is ~/.service/config.toml only where ~/.framehold/config.toml is not', () => {
    const service = { [`${home}/.service/config.toml`]: '[server]\ngrpc_port = 1' };
    expect(load({ files: service }).config.server.grpcPort).toBe(1);
    expect(load({ files: service, toml: '' }).config.server.grpcPort).toBe(50052);
  });

  it('can be named by a flag before the environment, relative or from home', () => {
    const files = { '/srv/a.toml': '[server]\ngrpc_port = 1', [`${home}/b.toml`]: '[server]\ngrpc_port = 2' };
    const env = { FRAMEHOLD_CONFIG: '~/b.toml' };
    expect(load({ argv: ['--config', 'a.toml'], env, files }).config.server.grpcPort).toBe(1);
    expect(load({ env, files }).config.server.grpcPort).toBe(2);
  });

  it('must exist where it was named', () => {
    expect(complaint({ env: { FRAMEHOLD_CONFIG: '/etc/none.toml' } })).toBe(
      'there is no config file /etc/none.toml (named by FRAMEHOLD_CONFIG); create it or name another',
    );
  });

  it('must be readable', () => {
    const readFile = () => {
      throw new Error('EACCES: permission denied');
    };
    expect(() => load({}, { readFile })).toThrow(`cannot read the config file ${defaultFile}: EACCES`);
  });
});

describe('precedence', () => {
  it('is flag, environment, file, default', () => {
    const given = { argv: ['--grpc-port', '1'], env: { FRAMEHOLD_GRPC_PORT: '2' }, toml: '[server]\ngrpc_port = 3' };
    expect(shown('server.grpc_port', given)).toMatchObject({ shown: '1', origin: '--grpc-port' });
    expect(shown('server.grpc_port', { ...given, argv: [] })).toMatchObject({
      shown: '2',
      origin: 'FRAMEHOLD_GRPC_PORT',
    });
    expect(shown('server.grpc_port', { toml: given.toml })).toMatchObject({ shown: '3', origin: `${defaultFile}:2` });
    expect(shown('server.grpc_port', {})).toMatchObject({ shown: '50052', origin: 'default' });
  });

  it('passes over an empty text, wherever it stands', () => {
    expect(load({ argv: ['--grpc-port='], env: { FRAMEHOLD_GRPC_PORT: '7' } }).config.server.grpcPort).toBe(7);
    expect(load({ env: { FRAMEHOLD_GRPC_HOST: ' ' }, toml: '[server]\ngrpc_host = ""' }).config.server.grpcHost).toBe(
      '0.0.0.0',
    );
    expect(load({ env: { FRAMEHOLD_CONFIG: '' } }).configFile).toBeUndefined();
  });
});

describe('paths', () => {
  it('follow the data directory unless they are set on their own', () => {
    const argv = ['--data-dir', 'frames'];
    expect(load({ argv, env: { FRAMEHOLD_DUCKDB_PATH: '~/mine.duckdb' } }).config.storage).toMatchObject({
      dataDir: '/srv/frames',
      parquetPath: '/srv/frames/cold',
      duckdbPath: '/home/ada/mine.duckdb',
    });
  });
});

describe('flags', () => {
  it.each(settingRows.map((row) => [row.flag, row] as const))('%s takes what the docs show', (flag, row) => {
    const text = typeof row.default === 'string' ? row.default : row.example;
    expect(text).toBeDefined();
    const others =
      '[engines.spark]\nkind = "spark-connect"\nurl = "sc://spark"\n[auth]\nenabled = true\n[audit]\nfile = "a"\n';
    const tls = '[tls]\ncert_file = "a"\nkey_file = "b"\nclient_auth = "optional"\nclient_ca_file = "c"\n';
    const toml = row.key === 'tls.client_auth' ? others : others + tls;
    const setting = shown(row.key, { argv: [`${flag}=${text}`], toml });
    expect(setting?.origin).toBe(flag);
  });

  it('that are boolean need no value', () => {
    expect(load({ argv: ['--demo', '--no-http-compression'] }).config).toMatchObject({
      frames: { demo: true },
      http: { compression: false },
    });
    expect(load({ argv: ['--demo=false'], env: { FRAMEHOLD_DEMO: '1' } }).config.frames.demo).toBe(false);
  });

  it.each([
    [['--grpc-prot', '1'], 'unknown flag "--grpc-prot"; did you mean --grpc-port?'],
    [['--colour'], 'unknown flag "--colour"; --help lists the flags'],
    [['-x'], 'unknown flag "-x"; --help lists the flags'],
    [['--grpc-port'], '--grpc-port needs a value: --grpc-port <value>'],
    [['--grpc-port', '--demo'], '--grpc-port needs a value: --grpc-port <value>'],
    [['--demo', 'false'], 'unexpected argument "false"; flags are written --name value or --name=value'],
    [['--grpc-port', '1', '--grpc-port=2'], '--grpc-port is given twice; give it once'],
  ])('%j is wrong', (argv, message) => {
    expect(complaint({ argv })).toBe(message);
  });

  it('and environment names belong to one setting each', () => {
    const names = settingRows.flatMap((row) => [row.flag, ...row.envNames]);
    expect(new Set(names).size).toBe(names.length);
  });
});

describe('a wrong value', () => {
  it.each<[Given, string]>([
    [
      { env: { SERVICE_GRPC_PORT: '70000' } },
      'server.grpc_port is "70000" (set by SERVICE_GRPC_PORT); expected a port from 0 to 65535; 0 lets the system choose',
    ],
    [
      { argv: ['--cache-size', 'lots'] },
      'storage.cache_size_gb is "lots" (set by --cache-size); expected a number of gigabytes such as 2.0, from 0 to 1000000',
    ],
    [
      { env: { TSDB_HTTP_URL: 'quest:9000' } },
      'tsdb.http_url is "quest:9000" (set by TSDB_HTTP_URL); expected a base URL such as http://127.0.0.1:9000 (http or https, no query)',
    ],
    [
      { toml: '# ours\n\n[server]\ngrpc_port = 70000' },
      `server.grpc_port is "70000" (set by ${defaultFile}:4); expected a port from 0 to 65535; 0 lets the system choose`,
    ],
    [
      { toml: '[server]\ngrpc_port = "50052"' },
      `server.grpc_port is the string "50052" (set in ${defaultFile}:2); expected a number: a port from 0 to 65535; 0 lets the system choose`,
    ],
    [
      { env: { FRAMEHOLD_SQL_MEMORY_GB: '2' } },
      'unknown variable FRAMEHOLD_SQL_MEMORY_GB in the environment; sql.memory_gb is FRAMEHOLD_SQL_MEMORY',
    ],
    [
      { env: { FRAMEHOLD_GRPC_PROT: '1' } },
      'unknown variable FRAMEHOLD_GRPC_PROT in the environment; did you mean FRAMEHOLD_GRPC_PORT?',
    ],
    [
      { env: { FRAMEHOLD_SOMETHING_ELSE_ALTOGETHER: '1' } },
      'unknown variable FRAMEHOLD_SOMETHING_ELSE_ALTOGETHER in the environment; `framehold server --help` lists them',
    ],
    [{ toml: '[server]\ngrpc_prot = 1' }, `unknown key server.grpc_prot in ${defaultFile}:2; did you mean grpc_port?`],
    [
      { toml: '[compression]\ncolour = 1' },
      `unknown key compression.colour in ${defaultFile}:2; [compression] has algorithm, level`,
    ],
    [{ toml: '\n[sever]\ngrpc_port = 1' }, `unknown section [sever] in ${defaultFile}:2; did you mean server?`],
    [
      { toml: 'grpc_port = 1' },
      `unknown key grpc_port in ${defaultFile}:1; the sections are storage, server, http, write, tsdb, sql, frames, auth, tls, audit, compression, metrics, otel, logging, client`,
    ],
    [{ toml: 'server = 1' }, `server in ${defaultFile}:1 is a number; expected a section [server]`],
    [{ toml: '[server]\n\ngrpc_port = ' }, `${defaultFile}:3:13 is not TOML: Invalid TOML document`],
    [
      { env: { FRAMEHOLD_COMPRESSION_LEVEL: '23' } },
      'compression.level is "23" (set by FRAMEHOLD_COMPRESSION_LEVEL); expected a whole number from 1 to 22',
    ],
    [
      { argv: ['--compression-algorithm', 'snappy', '--compression-level', '3'] },
      'compression.level is 3 (set by --compression-level), but snappy has no levels (compression.algorithm, set by --compression-algorithm); remove the level or choose zstd',
    ],
    [
      { argv: ['--grpc-port', '9000'] },
      'server.grpc_port is 9000 (set by --grpc-port), which is also the port of http.bind_address (set by default); expected two different ports',
    ],
    [
      { argv: ['--health-address', '127.0.0.1:9090', '--metrics-bind-address', '0.0.0.0:9090'] },
      'metrics.bind_address is 0.0.0.0:9090 (set by --metrics-bind-address), which is also the port of server.health_address (set by --health-address); expected two different ports',
    ],
    [
      { env: { RUST_LOG: 'loud' } },
      'logging.level is "loud" (set by RUST_LOG); expected off, error, warn, info, debug or trace, or levels by area such as warn,http=debug',
    ],
  ])('%j stops the start with one line', (given, message) => {
    expect(complaint(given)).toContain(message);
  });

  it.each([
    ['--http-bind-address', ['9000', ':9000', 'localhost', '127.0.0.1:70000', '::1:9000', '1.2.3:80', 'a b:1']],
    ['--grpc-host', ['a b', '300.1.1.1', '[1.2.3.4]', 'host:80']],
    ['--http-request-timeout', ['0', '-1s', '25d', 'soon']],
    ['--http-max-body', ['0', '10XB', '-1', 'GB']],
    ['--http-max-limit', ['0', '1.5', '99999999999999999999']],
    ['--http-cors-origins', ['app.example.com', 'https://a/', 'https://a,']],
    ['--http-default-fmt', ['csv']],
    ['--http-compression', []],
    ['--tsdb-http-url', ['ftp://a', 'http://', 'http://a?x=1', 'javascript:alert(1)']],
    ['--compression-algorithm', ['lzma']],
    ['--log-format', ['xml']],
    ['--sql-memory', ['0', '-1', '1e3']],
  ])('of %s is each of %j', (flag, texts) => {
    for (const text of texts) expect(complaint({ argv: [`${flag}=${text}`] })).toContain(`(set by ${flag})`);
  });
});

describe('values that look odd and are right', () => {
  it.each([
    ['[::1]:0', { host: '::1', port: 0 }],
    ['localhost:9000', { host: 'localhost', port: 9000 }],
    ['[::]:65535', { host: '::', port: 65535 }],
  ])('http.bind_address %s', (text, address) => {
    expect(load({ argv: ['--http-bind-address', text] }).config.http.bindAddress).toEqual(address);
  });

  it('an algorithm without levels has none', () => {
    expect(load({ argv: ['--compression-algorithm', 'LZ4'] }).config.compression).toEqual({
      algorithm: 'lz4',
      level: undefined,
    });
  });

  it('a cache of size 0', () => {
    expect(load({ env: { FRAMEHOLD_CACHE_SIZE: '0' } }).config.storage.cacheSizeBytes).toBe(0);
  });

  it('both listeners on port 0', () => {
    expect(() => load({ argv: ['--grpc-port', '0', '--http-bind-address', '0.0.0.0:0'] })).not.toThrow();
  });
});

describe('credentials in tsdb.http_url', () => {
  const secret = 'http://admin:s3cr@t/x@quest:9000';

  it('reach the configuration', () => {
    expect(load({ argv: ['--tsdb-http-url', 'http://admin:quest@db:9000'] }).config.tsdb.httpUrl).toBe(
      'http://admin:quest@db:9000',
    );
  });

  it('are masked where settings are shown', () => {
    expect(shown('tsdb.http_url', { env: { TSDB_HTTP_URL: 'http://admin:s3cret@db:9000' } })?.shown).toBe(
      'http://***@db:9000',
    );
  });

  it.each<[string, Given]>([
    ['a wrong scheme', { env: { TSDB_HTTP_URL: secret.replace('http:', 'ftp:') } }],
    ['no scheme', { env: { TSDB_HTTP_URL: 'admin:s3cr@t@quest:9000' } }],
    ['no URL', { toml: `[tsdb]\nhttp_url = "${secret}?q=1"` }],
    ['a wrong type', { toml: `[tsdb]\nhttp_url = ["${secret}"]` }],
  ])('are masked in the complaint about %s', (_, given) => {
    const message = complaint(given);
    expect(message).toContain('***@');
    expect(message).not.toMatch(/admin|s3cr/);
  });
});

describe('what the client commands read', () => {
  const server = (given: Given) => loadClientConfig(sources(given)).server;
  const toml = '[client]\nserver = "http://file:1"\n';

  it('is the flag, the environment, the file or the default, in this order', () => {
    const env = { FRAMEHOLD_SERVER: 'http://framehold:1', SERVICE_SERVER: 'http://service:1' };
    expect(server({ argv: ['--server=http://flag:1'], env, toml })).toBe('http://flag:1');
    expect(server({ env, toml })).toBe('http://framehold:1');
    expect(server({ env: { SERVICE_SERVER: 'http://service:1' }, toml })).toBe('http://service:1');
    expect(server({ toml })).toBe('http://file:1');
    expect(server({})).toBe('http://127.0.0.1:9000');
  });

  it('is not spoilt by a wrong setting of a server', () => {
    const env = { FRAMEHOLD_GRPC_PORT: 'tcp://10.0.0.1:50052' };
    expect(server({ env, toml: `${toml}[server]\nmax_connections = 0\n` })).toBe('http://file:1');
  });

  it('is refused where it is no address', () => {
    expect(() => server({ env: { FRAMEHOLD_SERVER: 'me:secret@host:9000' } })).toThrow(
      'client.server is "***@host:9000" (set by FRAMEHOLD_SERVER); expected a base URL',
    );
  });
});

it.each([
  ['FRAMEHOLD_TOKEN', 'fh_x'],
  ['FRAMEHOLD_SQL_MEMORY_GB', ' '],
  ['SERVICE_SOMETHING', '1'],
  ['FRAMEHOLD_ENGINES_SPARK_URL', 'sc://127.0.0.1:1'],
  ['FRAMEHOLD_SERVICE_HOST', '10.0.0.1'],
  ['FRAMEHOLD_SERVICE_PORT_HTTPS', '9000'],
  ['FRAMEHOLD_PORT', 'tcp://10.0.0.1:9000'],
  ['FRAMEHOLD_BLUE_PORT_9000_TCP_ADDR', '10.0.0.1'],
])('the variable %s stops no start', (name, text) => {
  expect(() =>
    load({
      env: {
        [name]: text,
        FRAMEHOLD_ENGINES_SPARK_KIND: 'spark-connect',
        FRAMEHOLD_ENGINES_SPARK_URL: 'sc://127.0.0.1:1',
      },
    }),
  ).not.toThrow();
});
