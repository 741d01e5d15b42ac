import type { Json } from './conformance.ts';

/** Rows as conformance.json writes them. */
interface Rows {
  readonly columns: readonly { readonly name: string; readonly type: string }[];
  readonly rows: readonly (readonly Json[])[];
}

type Args = Readonly<Record<string, Json>>;
type Params = Readonly<Record<string, Json | undefined>>;

interface Sent {
  readonly query?: Params;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The answer that is no 2xx. */
export class HttpRefusal extends Error {
  readonly status: number;
  readonly code: Json | undefined;
  readonly position: Json | undefined;

  constructor(status: number, body: Readonly<Record<string, Json>>) {
    super(JSON.stringify(body));
    this.status = status;
    this.code = body.code;
    this.position = body.position;
  }
}

/** The operations of the clients as bare HTTP requests. */
export class HttpOperations {
  readonly #url: string;

  constructor(url: string) {
    this.#url = url;
  }

  run(op: string, args: Args): Promise<Json> {
    const operation = this.#operations[op];
    if (operation === undefined) throw new Error(`there is no operation ${op}`);
    return operation(args);
  }

  readonly #operations: Readonly<Record<string, (args: Args) => Promise<Json>>> = {
    put: async ({ name, data, mode, ttl }) => {
      const query = { name, ttl, overwrite: mode === 'overwrite' || undefined, append: mode === 'append' || undefined };
      return kept(await this.#put(query, data as unknown as Rows));
    },
    get: async ({ name, columns, rows }) => {
      const [from, to] = (rows ?? []) as readonly (number | null)[];
      const limit = rows === undefined ? undefined : `${from},${to ?? ''}`;
      const cols = (columns as readonly string[] | undefined)?.map(quoted).join(',');
      return table(await this.#json('GET', 'exp', { query: { handle: name, fmt: 'json', limit, cols, ...exact } }));
    },
    sql: async ({ text, params, engine, settings, limit, keep, mode, ttl }) => {
      const body = {
        ...{ sql: text, params, engine, settings, limit },
        ...(keep === undefined ? exact : { keep: { handle: keep, mode, ttl } }),
      };
      const answer = await this.#json('POST', 'sql', { headers: json, body: JSON.stringify(body) });
      if (keep !== undefined) return kept(answer);
      return 'dataset' in answer ? table(answer) : { updated: answer.updated ?? null };
    },
    append: async ({ name, producer = crypto.randomUUID(), epoch = 0, writes }) => {
      const acks: Json[] = [];
      for (const [seq, write] of (writes as unknown as readonly Rows[]).entries()) {
        const headers = {
          'producer-id': String(producer),
          'producer-epoch': String(epoch),
          'producer-seq': String(seq),
        };
        const { version, rowsImported, repeated } = await this.#put({ name, append: true }, write, headers);
        acks.push({ seq, version: version ?? null, rows: rowsImported ?? null, repeated: repeated === true });
      }
      return acks;
    },
    follow: async ({ name, start = 0, columns, where, count }) => {
      const query = { from: start, fmt: 'json', columns: columns as string | undefined, where, ...exact };
      const answer = await this.#send('GET', `handles/${name}/rows`, { query });
      const { columns: found, rows } = table((await answer.json()) as Readonly<Record<string, Json>>);
      const taken = (rows as readonly Json[]).slice(0, count as number);
      return { columns: found ?? null, rows: taken, next_row: Number(answer.headers.get('next-row')) };
    },
    handles: async ({ prefix }) => {
      const { handles } = await this.#json('GET', 'handles', { query: { prefix } });
      return (handles as readonly Args[]).map(frame);
    },
    info: async ({ name }) => frame(await this.#json('GET', `handles/${name}`)),
    drop: async ({ name, version }) => {
      const headers = version === undefined ? {} : { 'if-match': `"${version}"` };
      return this.#json('DELETE', `handles/${name}`, { headers });
    },
    renew: async ({ name, ttl }) => {
      return frame(await this.#json('POST', `handles/${name}/renew`, { query: { ttl: ttl === null ? 'none' : ttl } }));
    },
    queries: async () => (await this.#json('GET', 'queries')).queries as Json,
    cancel: async ({ id }) => this.#json('DELETE', `queries/${id}`),
    engines: async () => (await this.#json('GET', 'engines')).engines as Json,
    whoami: async () => this.#json('GET', 'whoami'),
    server: async () => {
      const { version, grpc } = await this.#json('GET', 'info');
      const { host, port } = grpc as { readonly host: string; readonly port: number };
      return { version: version ?? null, grpc: `${host}:${port}` };
    },
  };

  #put(query: Params, { columns, rows }: Rows, headers: Readonly<Record<string, string>> = {}) {
    const schema = columns.map(({ name, type }) => ({ name, type }));
    const table = { query: { ...query, format: 'csv', header: true, schema: JSON.stringify(schema) }, headers };
    const lines = [columns.map(({ name }) => name), ...rows].map((row) => row.map(field).join(','));
    return this.#json('POST', 'imp', { ...table, body: `${lines.join('\n')}\n` });
  }

  async #json(method: string, path: string, sent: Sent = {}): Promise<Readonly<Record<string, Json>>> {
    return (await this.#send(method, path, sent)).json() as Promise<Readonly<Record<string, Json>>>;
  }

  async #send(method: string, path: string, { query = {}, body, headers = {} }: Sent): Promise<Response> {
    const url = new URL(path, `${this.#url}/`);
    for (const [name, value] of Object.entries(query)) {
      if (value !== undefined) url.searchParams.set(name, String(value));
    }
    const answer = await fetch(url, { method, headers, ...(body !== undefined && { body }) });
    if (answer.ok) return answer;
    throw new HttpRefusal(answer.status, (await answer.json()) as Readonly<Record<string, Json>>);
  }
}

const json = { 'content-type': 'application/json' } as const;
const exact = { quoteLargeNum: true } as const;

/** A field of a CSV, in which an empty one is NULL. */
function field(value: Json): string {
  return value === null ? '' : `"${String(value).replaceAll('"', '""')}"`;
}

function quoted(name: string): string {
  return `"${name.replaceAll(/["\\]/g, '\\$&')}"`;
}

function kept({ handle, version, rowsImported, rowsAdded = rowsImported, bytes }: Args): Json {
  return { handle: handle ?? null, version: version ?? null, rows: rowsAdded ?? null, bytes: bytes ?? null };
}

function frame(told: Args): Json {
  return { ...told, version_id: told.versionId ?? null };
}

/** Whole numbers that JSON holds are numbers, others stay texts. */
function table({ columns, dataset, updated }: Args): Args {
  const types = (columns as readonly { readonly name: string; readonly type: string }[]).map(({ name, type }) => ({
    name,
    type,
  }));
  const rows = (dataset as readonly (readonly Json[])[]).map((row) =>
    row.map((cell, at) =>
      types[at]?.type === 'LONG' && Number.isSafeInteger(Number(cell)) && cell !== null ? Number(cell) : cell,
    ),
  );
  return { columns: types, rows, ...(updated !== undefined && { updated }) };
}
