import type { Answer } from './api.ts';
import { Appender, type AppendOptions } from './appender.ts';
import { Follower, type FollowOptions } from './follow.ts';
import { Frame, type FrameSource } from './frame/frame.ts';
import type { Http, Stoppable } from './http.ts';
import { columnList, quoteTable } from './names.ts';
import type {
  Engine,
  FrameInfo,
  GetOptions,
  Identity,
  KeepOptions,
  Kept,
  Put,
  PutOptions,
  RowRange,
  RunningQuery,
  ServerInfo,
  SqlOptions,
} from './operations.ts';
import { jsonText, parameterForms } from './rows/json-text.ts';
import { type Format, Selection, type SelectionSource } from './selection.ts';
import type { HttpAnswer } from './transport.ts';
import type { RowObject } from './upload.ts';
import { type PutData, uploadOf } from './upload.ts';

const handlesPerPage = 1000;
/** The server takes 16 KiB of target and headers. */
const longestColumns = 4000;

/** One server. Nothing is sent before the first operation. */
export class Connection {
  /** The base of the operations: any request to this server. */
  readonly http: Http;
  #frames: FrameSource | undefined;

  constructor(http: Http) {
    this.http = http;
  }

  /** Of the server: for people. */
  get address(): string {
    return this.http.address;
  }

  /** Keeps data as a frame: it is on the disk when this resolves. Without a name the server makes one. */
  async put(name: string | undefined, data: PutData, options: PutOptions = {}): Promise<Put> {
    const { mode = 'create', ttl, delimiter, header, skipBadRows, onProgress, signal } = options;
    const upload = await uploadOf(data, { types: options.types, isAppend: mode === 'append' });
    const { body, totalBytes = options.totalBytes, format, hasHeader, types = options.types } = upload;
    const answer = await this.http.request('POST', '/imp', {
      query: {
        name,
        overwrite: mode === 'overwrite' ? true : undefined,
        append: mode === 'append' ? true : undefined,
        ttl,
        format: options.format ?? format,
        schema: types && Object.keys(types).length > 0 ? schemaText(types) : undefined,
        delimiter,
        header: hasHeader ?? header,
        atomicity: skipBadRows === true ? 'skipRow' : undefined,
        fmt: 'json',
      },
      // The system's media type is often wrong.
      headers: {
        'content-type': 'application/octet-stream',
        'content-length': options.totalBytes === undefined ? undefined : String(options.totalBytes),
      },
      body,
      signal,
      onSent: onProgress && ((sentBytes) => onProgress({ sentBytes, totalBytes })),
    });
    return putOf((await this.http.json(answer)) as ImportAnswer);
  }

  /** The rows of a frame or a view. */
  get<Row = RowObject>(name: string, options: GetOptions = {}): Selection<Row> {
    return this.selection((format) => this.openFrame(name, options, format));
  }

  /** Runs one statement over the frames. */
  sql(text: string, options: KeepOptions): Promise<Kept>;
  sql<Row = RowObject>(text: string, options?: SqlOptions): Selection<Row>;
  sql(text: string, options: SqlOptions & Partial<KeepOptions> = {}): Selection<RowObject> | Promise<Kept> {
    const { keep, mode, ttl } = options;
    if (keep === undefined) return this.selection((format) => this.#run(text, options, { format }));
    return this.#keep(text, options, { handle: keep, mode, ttl });
  }

  /** Adds rows to a frame, or makes it: each once, also over a connection that breaks. */
  append<Row = RowObject>(name: string, options: AppendOptions = {}): Appender<Row> {
    return new Appender<Row>(this.http, name, options);
  }

  /** The rows of a frame from `start` on, and new ones. */
  follow<Row = RowObject>(name: string, options: FollowOptions = {}): Follower<Row> {
    return new Follower<Row>(this.http, name, options);
  }

  /** A query over a frame, by verbs in place of SQL. */
  frame<Row = RowObject>(name: string): Frame<Row> {
    this.#frames ??= {
      columnsOf: async (handle) => (await this.get(handle, { rows: [0, 0] })).columns.map((column) => column.name),
      collect: (statement, options) =>
        this.selection(async (format) => {
          const { text, params } = await statement();
          return this.#run(text, { ...options, params }, { format });
        }),
      keep: ({ text, params }, options) => this.sql(text, { ...options, params }),
    };
    return Frame.of<Row>(this.#frames, name);
  }

  /** All frames whose names begin with a prefix. */
  async handles({ prefix, signal }: Stoppable & { readonly prefix?: string | undefined } = {}): Promise<FrameInfo[]> {
    const found: FrameInfo[] = [];
    let after: string | undefined;
    do {
      const query = { prefix, limit: handlesPerPage, after };
      const page = await this.http.call('GET /handles', { query, signal });
      found.push(...page.handles);
      after = page.next ?? undefined;
    } while (after !== undefined);
    return found;
  }

  info(name: string, { signal }: Stoppable = {}): Promise<FrameInfo> {
    return this.http.call('GET /handles/{handle}', { segments: { handle: name }, signal });
  }

  /** With `version`, only while the frame is at that version. */
  async drop(
    name: string,
    { version, signal }: Stoppable & { readonly version?: number | undefined } = {},
  ): Promise<void> {
    const headers = { 'if-match': version === undefined ? undefined : `"${version}"` };
    await this.http.call('DELETE /handles/{handle}', { segments: { handle: name }, headers, signal });
  }

  /** Starts the time to live again; with a `ttl`, another one; with null, none. */
  renew(name: string, ttl?: number | string | null, { signal }: Stoppable = {}): Promise<FrameInfo> {
    const query = ttl === undefined ? {} : { ttl: ttl === null ? 'none' : String(ttl) };
    return this.http.call('POST /handles/{handle}/renew', { segments: { handle: name }, query, signal });
  }

  /** Lets another tenant read the frame, as `owner/name`. */
  async share(name: string, tenant: string, { signal }: Stoppable = {}): Promise<void> {
    await this.http.call('PUT /handles/{handle}/shares/{tenant}', { segments: { handle: name, tenant }, signal });
  }

  async unshare(name: string, tenant: string, { signal }: Stoppable = {}): Promise<void> {
    await this.http.call('DELETE /handles/{handle}/shares/{tenant}', { segments: { handle: name, tenant }, signal });
  }

  /** The tenants that may read the frame. */
  async shares(name: string, { signal }: Stoppable = {}): Promise<string[]> {
    const { shares } = await this.http.call('GET /handles/{handle}/shares', { segments: { handle: name }, signal });
    return shares.map(({ tenant }) => tenant);
  }

  /** The statements that are under way, the oldest first. */
  async queries({ signal }: Stoppable = {}): Promise<readonly RunningQuery[]> {
    return (await this.http.call('GET /queries', { signal })).queries;
  }

  /** Stops a statement, by its `id` of `queries`. */
  async cancel(id: string, { signal }: Stoppable = {}): Promise<void> {
    await this.http.call('DELETE /queries/{id}', { segments: { id }, signal });
  }

  async engines({ signal }: Stoppable = {}): Promise<readonly Engine[]> {
    return (await this.http.call('GET /engines', { signal })).engines;
  }

  whoami({ signal }: Stoppable = {}): Promise<Identity> {
    return this.http.call('GET /whoami', { signal });
  }

  /** Facts about the server, and the address of its gRPC listener. */
  server({ signal }: Stoppable = {}): Promise<ServerInfo> {
    return this.http.call('GET /info', { signal });
  }

  close(): void {
    this.http.close();
  }

  /** The rows of a frame in a format. */
  protected openFrame(name: string, { columns, rows, signal }: GetOptions, format: Format): Promise<HttpAnswer> {
    const cols = columns && columnList(columns);
    if (cols !== undefined && cols.length > longestColumns) {
      const sql = `SELECT * FROM ${quoteTable(name)}`;
      return this.#run(sql, { signal }, { cols: columns, limit: rows && sqlLimit(rows), format });
    }
    const query = { handle: name, fmt: format, limit: rows && exportLimit(rows), cols };
    return this.http.request('GET', '/exp', { query, signal });
  }

  /** Rows that are asked for when they are used. */
  protected selection<Row>(open: SelectionSource['open']): Selection<Row> {
    return new Selection<Row>({ open, unexpected: () => this.http.unexpected() });
  }

  async #run(
    text: string,
    { params, engine, settings, limit, id, signal }: SqlOptions,
    form: Readonly<Record<string, unknown>>,
  ): Promise<HttpAnswer> {
    if (engine === 'tsdb') {
      // It is asked as QuestDB's own clients do.
      const given = Object.entries({ params, settings, keep: form.keep }).find(([, value]) => value !== undefined);
      if (given !== undefined) throw new TypeError(`the engine tsdb takes no ${given[0]}`);
      const path = form.format === 'json' ? '/exec' : '/exp';
      const { format } = form as { readonly format: Format };
      return this.http.request('GET', path, { query: { query: text, engine, fmt: format, limit }, signal });
    }
    const body = jsonText({ sql: text, engine, limit, settings, ...form }, parameterForms).slice(0, -1);
    return this.http.request('POST', '/sql', {
      headers: { 'content-type': 'application/json', 'x-request-id': id },
      body: `${body}${params === undefined ? '' : `,"params":${jsonText(params, parameterForms, 'params')}`}}`,
      signal,
    });
  }

  async #keep(text: string, options: SqlOptions, keep: Readonly<Record<string, unknown>>): Promise<Kept> {
    const answer = (await this.http.json(await this.#run(text, options, { keep }))) as KeepAnswer;
    const { handle, version, rowsAdded, bytes, repeated } = answer;
    return { handle, version, rows: rowsAdded, bytes, repeated: repeated === true };
  }
}

type KeepAnswer = Extract<Answer<'POST /sql'>, { readonly handle: string }>;
type ImportAnswer = Extract<Answer<'POST /imp'>, { readonly rowsImported: number }>;

function putOf({
  handle,
  version,
  rowsImported,
  bytes,
  repeated,
  columns,
  rowsRejected,
  rejections = [],
}: ImportAnswer): Put {
  return {
    handle,
    version,
    rows: rowsImported,
    bytes,
    repeated: repeated === true,
    columns,
    rejectedRows: rowsRejected,
    rejections,
  };
}

/** As /exp counts: those after the first `from` up to row `to`. */
function exportLimit(rows: RowRange): string {
  const [from, to] = checkedRange(rows);
  return `${from},${to === undefined ? '' : Math.max(from, to)}`;
}

/** As /sql counts: from 1, both ends included. */
function sqlLimit(rows: RowRange): string | number {
  const [from, to] = checkedRange(rows);
  if (to !== undefined && to <= from) return 0;
  return `${from + 1},${to ?? ''}`;
}

function checkedRange(rows: RowRange): RowRange {
  const [from, to] = rows;
  for (const at of [from, to ?? 0]) {
    if (!Number.isSafeInteger(at) || at < 0) {
      throw new TypeError(`rows is [${from}, ${to}]; it is [from, to], counted from 0`);
    }
  }
  return rows;
}

/** A JSON array, as names may have anything in them. */
function schemaText(types: Readonly<Record<string, string>>): string {
  return JSON.stringify(Object.entries(types).map(([name, type]) => ({ name, type })));
}
