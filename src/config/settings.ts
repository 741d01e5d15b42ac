import { join } from 'node:path';
import { isTenant, type Tenant } from '../core/principal.ts';
import { maskCredentials } from './http-url.ts';
import type { Setting } from './setting.ts';
import * as type from './setting-type.ts';

const anonymousAccess: type.SettingType<Tenant> = {
  placeholder: 'tenant:read',
  accepts: 'a tenant and the role read, such as default:read',
  unit: 'tenant:read',
  toml: ['string'],
  parse: (text) => {
    const [name = '', role, ...rest] = text.split(':');
    return isTenant(name) && role === 'read' && rest.length === 0 ? name : undefined;
  },
};

const connections = type.integer({ min: 1, unit: 'connections' });
const requests = type.integer({ min: 1, unit: 'requests' });
const timeToLive = type.duration({ min: '1s', max: '36500d' });

/** Every setting of the program, by section and key of the TOML file. Flags, environment, help and docs are made from this. */
export const settings = {
  storage: {
    data_dir: {
      property: 'dataDir',
      env: 'DATA_DIR',
      type: type.path,
      default: { shown: '~/.framehold/data', text: ({ homeDir }) => join(homeDir, '.framehold', 'data') },
      example: '/data',
      help: 'Directory that holds everything the server keeps',
    },
    parquet_path: {
      property: 'parquetPath',
      env: 'PARQUET_PATH',
      type: type.path,
      default: { shown: '<data_dir>/cold', text: ({ text }) => join(text('storage.data_dir') ?? '', 'cold') },
      example: '/data/cold',
      help: 'Directory of the Parquet files, which are the frames',
    },
    duckdb_path: {
      property: 'duckdbPath',
      env: 'DUCKDB_PATH',
      type: type.path,
      default: {
        shown: '<data_dir>/analytics.duckdb',
        text: ({ text }) => join(text('storage.data_dir') ?? '', 'analytics.duckdb'),
      },
      example: '/data/analytics.duckdb',
      help: 'DuckDB file of your own, readable in SQL as "analytics"; created empty when absent',
    },
    cache_size_gb: {
      property: 'cacheSizeBytes',
      env: 'CACHE_SIZE',
      type: type.gigabytes({ min: 0 }),
      default: '1.0',
      help: 'Memory for rows kept ready to be sent, and as much disk for copies of frames that SQL asks for often; 0 switches both off',
    },
  },
  server: {
    grpc_host: {
      property: 'grpcHost',
      env: 'GRPC_HOST',
      type: type.host,
      default: '0.0.0.0',
      help: 'Host that the gRPC listener binds to',
    },
    grpc_port: {
      property: 'grpcPort',
      env: 'GRPC_PORT',
      type: type.port,
      default: '50052',
      help: 'Port of the gRPC listener; 0 lets the system choose',
    },
    max_connections: {
      property: 'maxConnections',
      env: 'MAX_CONNECTIONS',
      type: connections,
      default: '100',
      help: 'Open gRPC connections; one more is refused',
    },
    shutdown_grace: {
      property: 'shutdownGraceMs',
      env: 'SHUTDOWN_GRACE',
      type: type.duration({ min: '0s', max: '24d' }),
      default: '10s',
      help: 'How long requests under way may go on after SIGINT or SIGTERM',
    },
  },
  http: {
    bind_address: {
      property: 'bindAddress',
      env: 'HTTP_BIND_ADDRESS',
      type: type.listenAddress,
      default: '0.0.0.0:9000',
      help: 'Address and port of the HTTP listener; port 0 lets the system choose',
    },
    default_fmt: {
      property: 'defaultFmt',
      env: 'HTTP_DEFAULT_FMT',
      type: type.choice(['json']),
      default: undefined,
      example: 'json',
      help: 'What a request to /exec without fmt means; unset, fmt is required',
    },
    request_timeout: {
      property: 'requestTimeoutMs',
      env: 'HTTP_REQUEST_TIMEOUT',
      type: type.timeout,
      default: '60s',
      help: 'Time within which an answer must begin',
    },
    header_timeout: {
      property: 'headerTimeoutMs',
      env: 'HTTP_HEADER_TIMEOUT',
      type: type.timeout,
      default: '10s',
      help: 'Time that a client has to send the headers of a request',
    },
    idle_timeout: {
      property: 'idleTimeoutMs',
      env: 'HTTP_IDLE_TIMEOUT',
      type: type.timeout,
      default: '10s',
      help: 'How long a connection may stay open between requests',
    },
    stall_timeout: {
      property: 'stallTimeoutMs',
      env: 'HTTP_STALL_TIMEOUT',
      type: type.timeout,
      default: '30s',
      help: 'How long a reader may take nothing of its answer before it is cut off',
    },
    max_limit: {
      property: 'maxLimit',
      env: 'HTTP_MAX_LIMIT',
      type: type.integer({ min: 1, unit: 'rows' }),
      default: undefined,
      example: '1000000',
      help: 'Largest limit that a request to /exec or /sql may ask for; unset, there is no maximum',
    },
    max_body: {
      property: 'maxBodyBytes',
      env: 'HTTP_MAX_BODY',
      type: type.bytes,
      default: '10GB',
      help: 'Largest body of a request',
    },
    min_body_rate: {
      property: 'minBodyBytesPerSecond',
      env: 'HTTP_MIN_BODY_RATE',
      type: type.bytes,
      default: '1KB',
      help: 'Fewest bytes a second that a client may send of its body, on average over `stall_timeout`; 0 = any',
    },
    max_concurrent_requests: {
      property: 'maxConcurrentRequests',
      env: 'HTTP_MAX_CONCURRENT_REQUESTS',
      type: requests,
      default: '256',
      help: 'HTTP requests under way at once; one more is answered 503',
    },
    max_connections: {
      property: 'maxConnections',
      env: 'HTTP_MAX_CONNECTIONS',
      type: connections,
      default: '2000',
      help: 'Open HTTP connections; one more is refused',
    },
    cors_origins: {
      property: 'corsOrigins',
      env: 'HTTP_CORS_ORIGINS',
      type: type.origins,
      default: undefined,
      example: 'https://app.example.com,https://lab.example.com',
      help: 'Web origins whose pages may call the server, or *; unset, none',
    },
    compression: {
      property: 'compression',
      env: 'HTTP_COMPRESSION',
      type: type.boolean,
      default: 'true',
      help: 'Compress answers for clients that accept it',
    },
  },
  tsdb: {
    http_url: {
      property: 'httpUrl',
      env: 'TSDB_HTTP_URL',
      bareEnv: 'TSDB_HTTP_URL',
      type: type.httpUrl,
      default: undefined,
      example: 'http://127.0.0.1:9001',
      help: 'External time-series database for /exec?query=; user:password@ in it is sent as Basic authorization',
      mask: maskCredentials,
    },
    timeout: {
      property: 'timeoutMs',
      env: 'TSDB_TIMEOUT',
      type: type.timeout,
      default: '60s',
      help: 'Time within which the external database must begin its answer',
    },
    connect_timeout: {
      property: 'connectTimeoutMs',
      env: 'TSDB_CONNECT_TIMEOUT',
      type: type.timeout,
      default: '2s',
      help: 'Time to connect to the external database',
    },
    max_connections: {
      property: 'maxConnections',
      env: 'TSDB_MAX_CONNECTIONS',
      type: connections,
      default: '32',
      help: 'Connections to the external database',
    },
    max_queue: {
      property: 'maxQueue',
      env: 'TSDB_MAX_QUEUE',
      type: type.integer({ min: 0, unit: 'requests' }),
      default: '64',
      help: 'Requests that may wait for such a connection; one more is answered 503',
    },
  },
  sql: {
    default_engine: {
      property: 'defaultEngine',
      env: 'SQL_DEFAULT_ENGINE',
      type: type.engineName,
      default: 'tsdb',
      help: 'Where query= of /exec and /exp goes without engine=: `tsdb`, the external database; `local`, the SQL engine over the frames; `auto`; or a name of `[engines]`',
    },
    auto_engine: {
      property: 'autoEngine',
      env: 'SQL_AUTO_ENGINE',
      type: type.engineName,
      default: undefined,
      example: 'spark',
      help: 'The name of `[engines]` where `engine=auto` sends statements that read much; unset, they stay local',
    },
    auto_threshold: {
      property: 'autoThresholdBytes',
      env: 'SQL_AUTO_THRESHOLD',
      type: type.bytes,
      default: '4GB',
      help: 'Stored bytes of the frames that a statement reads, from which on `engine=auto` sends it there',
    },
    timeout: {
      property: 'timeoutMs',
      env: 'SQL_TIMEOUT',
      type: type.timeout,
      default: '30s',
      help: 'Time that a statement may run',
    },
    workers: {
      property: 'workers',
      env: 'SQL_WORKERS',
      type: type.integer({ min: 1, max: 256, unit: 'processes' }),
      default: { shown: 'number of cores, at least 2', text: ({ coreCount }) => String(Math.max(2, coreCount)) },
      example: '4',
      help: 'DuckDB processes that read frames, and as many again that run SQL once there is some',
    },
    threads: {
      property: 'threads',
      env: 'SQL_THREADS',
      type: type.integer({ min: 1, max: 256, unit: 'threads' }),
      default: '1',
      help: 'Threads of each of these processes; those for frames use as many as sql.workers while they write a file',
    },
    memory_gb: {
      property: 'memoryBytes',
      env: 'SQL_MEMORY',
      type: type.gigabytes({ min: 0.05 }),
      default: '1.0',
      help: 'Memory of each of these processes',
    },
    max_queue: {
      property: 'maxQueue',
      env: 'SQL_MAX_QUEUE',
      type: type.integer({ min: 0, unit: 'jobs' }),
      default: '1000',
      help: 'Jobs that may wait for such a process; one more is answered 503',
    },
  },
  frames: {
    default_ttl: {
      property: 'defaultTtlMs',
      env: 'FRAMES_DEFAULT_TTL',
      type: timeToLive,
      default: undefined,
      example: '7d',
      help: 'Time to live of a frame that is put without one; unset, frames stay forever',
    },
    tombstone_ttl: {
      property: 'tombstoneTtlMs',
      env: 'FRAMES_TOMBSTONE_TTL',
      type: timeToLive,
      default: '30d',
      help: 'How long a dropped or expired handle answers "gone" rather than "not found"',
    },
    demo: {
      property: 'demo',
      env: 'DEMO',
      type: type.boolean,
      default: 'false',
      help: 'Serve demo frames beside your own',
    },
  },
  auth: {
    enabled: {
      property: 'enabled',
      env: 'AUTH_ENABLED',
      type: type.boolean,
      default: 'false',
      help: 'Whether callers must show who they are; false lets everybody do everything',
    },
    anonymous: {
      property: 'anonymous',
      env: 'AUTH_ANONYMOUS',
      type: anonymousAccess,
      default: undefined,
      example: 'default:read',
      help: 'What callers without credentials may do; unset, nothing',
    },
    jwks_max_stale: {
      property: 'jwksMaxStaleMs',
      env: 'AUTH_JWKS_MAX_STALE',
      type: type.duration({ min: '1m', max: '30d' }),
      default: '24h',
      help: "How long an issuer's keys are used while newer ones cannot be fetched",
    },
  },
  audit: {
    file: {
      property: 'file',
      env: 'AUDIT_FILE',
      type: type.path,
      default: undefined,
      example: '/var/log/framehold/audit.jsonl',
      help: 'File that gets a line of JSON for every request; opened again on SIGHUP; unset, there is none',
    },
    on_failure: {
      property: 'onFailure',
      env: 'AUDIT_ON_FAILURE',
      type: type.choice(['refuse', 'continue']),
      default: {
        shown: 'refuse',
        text: ({ text }) => (text('audit.file') === undefined ? undefined : 'refuse'),
      },
      example: 'refuse',
      help: 'Whether requests are refused (503) or served while that file cannot be written',
    },
  },
  compression: {
    algorithm: {
      property: 'algorithm',
      env: 'COMPRESSION_ALGORITHM',
      type: type.choice(['zstd', 'snappy', 'gzip', 'lz4', 'brotli', 'uncompressed']),
      default: 'zstd',
      help: 'Compression of the Parquet files that the server writes',
    },
    level: {
      property: 'level',
      env: 'COMPRESSION_LEVEL',
      type: type.integer({ min: 1, max: 22, unit: 'level' }),
      default: {
        shown: '19 with zstd',
        text: ({ text }) => (text('compression.algorithm')?.toLowerCase() === 'zstd' ? '19' : undefined),
      },
      example: '19',
      help: 'Level of that compression; only zstd has levels',
    },
  },
  logging: {
    level: {
      property: 'filter',
      env: 'LOG_LEVEL',
      bareEnv: 'RUST_LOG',
      type: type.logFilter,
      default: 'info',
      help: 'Least level that is logged, by area if wanted: warn,http=debug',
    },
    format: {
      property: 'format',
      env: 'LOG_FORMAT',
      type: type.choice(['json', 'pretty']),
      default: {
        shown: 'pretty on a terminal, else json',
        text: ({ stderrIsTerminal }) => (stderrIsTerminal ? 'pretty' : 'json'),
      },
      example: 'json',
      help: 'Form of the log on standard error',
    },
  },
  client: {
    server: {
      property: 'server',
      env: 'SERVER',
      type: type.httpUrl,
      default: 'http://127.0.0.1:9000',
      help: 'Server that put, get, ls, info, rm, sql, engines, queries, cancel and ping talk to; the server itself does not read this',
      mask: maskCredentials,
    },
    token_file: {
      property: 'tokenFile',
      env: 'TOKEN_FILE',
      type: type.path,
      default: undefined,
      example: '~/.framehold/token',
      help: 'File with the token that those commands show; FRAMEHOLD_TOKEN in the environment is the token itself',
    },
  },
} as const satisfies Record<string, Record<string, Setting>>;

/** The file that holds the settings. Not one of them itself: it cannot be set in the file. */
export const configFileSetting = {
  env: 'CONFIG',
  default: '~/.framehold/config.toml, else ~/.service/config.toml',
  help: 'TOML file with these settings',
} as const;
