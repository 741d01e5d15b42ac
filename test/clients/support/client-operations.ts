import type { Connection, FrameInfo, Kept, Mode, Parameters, Result } from '#client/node.ts';
import type { Json } from './conformance.ts';

/** Rows as conformance.json writes them. */
interface Rows {
  readonly columns: readonly { readonly name: string; readonly type: string }[];
  readonly rows: readonly (readonly Json[])[];
}

/** Of any operation. */
interface Args {
  readonly name: string;
  readonly data: Rows;
  readonly mode?: Mode;
  readonly ttl?: string;
  readonly columns?: readonly string[];
  readonly rows?: readonly [from: number, to: number | null];
  readonly text: string;
  readonly params?: Parameters;
  readonly engine?: string;
  readonly settings?: Readonly<Record<string, string>>;
  readonly limit?: number;
  readonly keep?: string;
  readonly producer?: string;
  readonly epoch?: number;
  readonly writes: readonly Rows[];
  readonly start?: number;
  readonly where?: string;
  readonly count: number;
  readonly prefix?: string;
  readonly version?: number;
  readonly id: string;
}

/** The operations of conformance.json, by the client for TypeScript. */
export class ClientOperations {
  readonly #db: Connection;

  constructor(db: Connection) {
    this.#db = db;
  }

  run(op: string, args: Readonly<Record<string, Json>>): Promise<unknown> {
    const operation = this.#operations[op];
    if (operation === undefined) throw new Error(`there is no operation ${op}`);
    return operation(args as unknown as Args);
  }

  readonly #operations: Readonly<Record<string, (args: Args) => Promise<unknown>>> = {
    put: async ({ name, data, mode, ttl }) =>
      kept(await this.#db.put(name, objects(data), { mode, ttl, types: typesOf(data) })),
    get: async ({ name, columns, rows: range }) => {
      const [from = 0, to = null] = range ?? [];
      const rows = range && (to === null ? ([from] as const) : ([from, to] as const));
      return table(await this.#db.get(name, { columns, rows }));
    },
    sql: async ({ text, keep, mode, ttl, ...options }) => {
      if (keep !== undefined) return kept(await this.#db.sql(text, { keep, mode, ttl, ...options }));
      return table(await this.#db.sql(text, options));
    },
    append: async ({ name, producer, epoch = 0, writes }) => {
      const appender = this.#db.append(name, { producer, epoch });
      const acks: unknown[] = [];
      for (const write of writes) acks.push(await appender.write(objects(write)));
      await appender.close();
      return acks;
    },
    follow: async ({ name, start, columns, where, count }) => {
      const stop = new AbortController();
      const found: unknown[] = [];
      const follower = this.#db.follow(name, { start, columns, where, signal: stop.signal });
      for await (const batch of follower.batches()) {
        found.push(...batch.rows.map((row) => Object.values(row).map(plain)));
        if (found.length < count) continue;
        return { columns: batch.columns, rows: found.slice(0, count), next_row: batch.next };
      }
      return undefined;
    },
    handles: async ({ prefix }) => (await this.#db.handles({ prefix })).map(frame),
    info: async ({ name }) => frame(await this.#db.info(name)),
    drop: ({ name, version }) => this.#db.drop(name, { version }),
    renew: async ({ name, ttl }) => frame(await this.#db.renew(name, ttl)),
    queries: async () => this.#db.queries(),
    cancel: ({ id }) => this.#db.cancel(id),
    engines: async () => this.#db.engines(),
    whoami: async () => this.#db.whoami(),
    server: async () => {
      const { version, grpc } = await this.#db.server();
      return { version, grpc: `${grpc.host}:${grpc.port}` };
    },
  };
}

/** Whole numbers beyond 2^53 are texts in the file, and bigints here. */
function objects({ columns, rows }: Rows): Record<string, unknown>[] {
  const value = (cell: Json, type: string): unknown =>
    type === 'LONG' && typeof cell === 'string' ? BigInt(cell) : cell;
  return rows.map((row) =>
    Object.fromEntries(columns.map(({ name, type }, at) => [name, value(row[at] ?? null, type)])),
  );
}

function typesOf({ columns }: Rows): Record<string, string> {
  return Object.fromEntries(columns.map(({ name, type }) => [name, type]));
}

function plain(value: unknown): unknown {
  if (typeof value !== 'bigint') return value;
  return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
}

async function table(result: Result<unknown>): Promise<unknown> {
  const rows: unknown[] = [];
  for await (const cells of result.values()) rows.push(cells.map(plain));
  const columns = result.columns.map(({ name, type }) => ({ name, type }));
  return columns.length === 0 ? { updated: result.updated ?? null } : { columns, rows, updated: result.updated };
}

function kept({ handle, version, rows, bytes }: Kept): unknown {
  return { handle, version, rows, bytes };
}

function frame(told: FrameInfo): unknown {
  return { ...told, version_id: told.versionId };
}
