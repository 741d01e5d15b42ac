import type { MessageParts } from '../encoding/arrow/write/ipc-message.ts';
import { readArrow } from './arrow-reader.ts';
import { ByteReader } from './byte-reader.ts';
import { ClientError } from './client-error.ts';
import { type ClientTls, verifiedAs } from './client-tls.ts';
import type { FlightClient, FlightSelection } from './flight-client.ts';
import { type AnswerBody, HttpClient } from './http-client.ts';
import type {
  HeldFrame,
  Identity,
  ImportAnswer,
  ImportOptions,
  NextRows,
  RowsRequest,
  ServerEngine,
  ServerInfo,
  ServerQuery,
  ServerTenant,
  ServerToken,
  SqlOptions,
  TenantChange,
  TokenRequest,
} from './server-api.ts';

export interface ClientOptions {
  readonly token?: string | undefined;
  /** In which an operator acts. */
  readonly tenant?: string | undefined;
  readonly tls?: ClientTls | undefined;
}

export interface Stoppable {
  readonly signal: AbortSignal;
}

const handlesPerPage = 1000;

/** One server, over HTTP and Flight. */
export class FrameholdClient {
  readonly http: HttpClient;
  #info: ServerInfo | undefined;
  #flight: FlightClient | undefined;

  readonly #headers: Readonly<Record<string, string>>;

  readonly #tls: ClientTls;

  constructor(server: string, { token, tenant, tls = {} }: ClientOptions = {}) {
    this.#tls = tls;
    this.#headers = {
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(tenant !== undefined && { 'x-framehold-tenant': tenant }),
    };
    this.http = new HttpClient(server, this.#headers, tls);
  }

  async info(stop: Stoppable): Promise<ServerInfo> {
    this.#info ??= await this.http.json<ServerInfo>({ path: 'info', ...stop });
    return this.#info;
  }

  /** Its gRPC listener, at the address that the server tells. */
  async flight(stop: Stoppable): Promise<FlightClient> {
    if (this.#flight === undefined) {
      const { grpc } = await this.info(stop);
      const isWildcard = grpc.host === '0.0.0.0' || grpc.host === '::';
      const address = { host: isWildcard ? this.http.host : grpc.host, port: grpc.port };
      // HTTP/2 takes a while to load, and most commands need none.
      const flight = await import('./flight-client.ts');
      // Verified as the server that was asked: its certificate may not have the address that it listens at.
      const tls = grpc.tls === true ? { ...this.#tls, ...verifiedAs(this.http.host) } : undefined;
      this.#flight = await flight.FlightClient.connect(address, { ...stop, headers: this.#headers, tls });
    }
    return this.#flight;
  }

  /** The same, or undefined where only HTTP comes through: port forwarding, proxies. */
  async flightIfReachable(stop: Stoppable): Promise<FlightClient | undefined> {
    try {
      return await this.flight(stop);
    } catch (error) {
      const isGrpc =
        error instanceof ClientError && error.outcome === 'unreachable' && /grpc(\+tls)?:\/\//.test(error.message);
      if (!isGrpc) throw error;
      return undefined;
    }
  }

  async engines(stop: Stoppable): Promise<readonly ServerEngine[]> {
    const { engines } = await this.http.json<{ engines: readonly ServerEngine[] }>({ path: 'engines', ...stop });
    return engines;
  }

  whoami(stop: Stoppable): Promise<Identity> {
    return this.http.json<Identity>({ path: 'whoami', ...stop });
  }

  async tokens(stop: Stoppable): Promise<readonly ServerToken[]> {
    const { tokens } = await this.http.json<{ tokens: readonly ServerToken[] }>({ path: 'tokens', ...stop });
    return tokens;
  }

  /** Gives the secret. */
  async createToken(token: TokenRequest, stop: Stoppable): Promise<string> {
    return this.#newToken('tokens', token, stop);
  }

  async rotateToken(id: string, overlap: string | undefined, stop: Stoppable): Promise<string> {
    return this.#newToken(`tokens/${encodeURIComponent(id)}/rotate`, { overlap }, stop);
  }

  async revokeToken(id: string, stop: Stoppable): Promise<void> {
    await this.http.json({ method: 'DELETE', path: `tokens/${encodeURIComponent(id)}`, ...stop });
  }

  async #newToken(path: string, body: object, stop: Stoppable): Promise<string> {
    const headers = { 'content-type': 'application/json' };
    const made = { method: 'POST', path, headers, body: JSON.stringify(body), ...stop } as const;
    return (await this.http.json<{ token: string }>(made)).token;
  }

  async tenants(stop: Stoppable): Promise<readonly ServerTenant[]> {
    const { tenants } = await this.http.json<{ tenants: readonly ServerTenant[] }>({ path: 'tenants', ...stop });
    return tenants;
  }

  createTenant(name: string, change: TenantChange, stop: Stoppable): Promise<ServerTenant> {
    return this.#sendTenant('POST', 'tenants', { name, ...change }, stop);
  }

  setTenant(name: string, change: TenantChange, stop: Stoppable): Promise<ServerTenant> {
    return this.#sendTenant('PATCH', `tenants/${encodeURIComponent(name)}`, change, stop);
  }

  async removeTenant(name: string, stop: Stoppable): Promise<void> {
    await this.http.json({ method: 'DELETE', path: `tenants/${encodeURIComponent(name)}`, ...stop });
  }

  #sendTenant(method: 'POST' | 'PATCH', path: string, body: object, stop: Stoppable): Promise<ServerTenant> {
    const headers = { 'content-type': 'application/json' };
    return this.http.json<ServerTenant>({ method, path, headers, body: JSON.stringify(body), ...stop });
  }

  /** The tenants that the frame is shared with. */
  async shares(handle: string, stop: Stoppable): Promise<readonly string[]> {
    const path = `${pathOf(handle)}/shares`;
    const { shares } = await this.http.json<{ shares: readonly { tenant: string }[] }>({ path, ...stop });
    return shares.map(({ tenant }) => tenant);
  }

  async share(handle: string, tenant: string, stop: Stoppable): Promise<void> {
    await this.http.json({ method: 'PUT', path: sharePath(handle, tenant), ...stop });
  }

  async unshare(handle: string, tenant: string, stop: Stoppable): Promise<void> {
    await this.http.json({ method: 'DELETE', path: sharePath(handle, tenant), ...stop });
  }

  async queries(stop: Stoppable): Promise<readonly ServerQuery[]> {
    const { queries } = await this.http.json<{ queries: readonly ServerQuery[] }>({ path: 'queries', ...stop });
    return queries;
  }

  /** Stops a statement of anyone. */
  async cancel(id: string, stop: Stoppable): Promise<void> {
    await this.http.json({ method: 'DELETE', path: `queries/${encodeURIComponent(id)}`, ...stop });
  }

  async *frames(prefix: string | undefined, stop: Stoppable): AsyncGenerator<HeldFrame, void, undefined> {
    let after: string | undefined;
    do {
      const page: { handles: readonly HeldFrame[]; next?: string | null } = await this.http.json({
        path: 'handles',
        query: { prefix, limit: handlesPerPage, after },
        ...stop,
      });
      yield* page.handles;
      after = page.next ?? undefined;
    } while (after !== undefined);
  }

  describe(handle: string, stop: Stoppable): Promise<HeldFrame> {
    return this.http.json<HeldFrame>({ path: pathOf(handle), ...stop });
  }

  async flush(handle: string, stop: Stoppable): Promise<HeldFrame> {
    return await this.http.json<HeldFrame>({ method: 'POST', path: `${pathOf(handle)}/flush`, ...stop });
  }

  /** With `ifVersion`, only while the frame is at that version. */
  async drop(handle: string, ifVersion: number | undefined, stop: Stoppable): Promise<void> {
    const headers = ifVersion === undefined ? {} : { 'if-match': `"${ifVersion}"` };
    await this.http.json({ method: 'DELETE', path: pathOf(handle), headers, ...stop });
  }

  import(options: ImportOptions, body: AsyncIterable<Uint8Array>, stop: Stoppable): Promise<ImportAnswer> {
    const { handle, mode, ttl, format, delimiter, hasNoHeader, skipBadRows, totalBytes } = options;
    return this.http.json<ImportAnswer>({
      method: 'POST',
      path: 'imp',
      query: {
        name: handle,
        overwrite: mode === 'overwrite' ? true : undefined,
        append: mode === 'append' ? true : undefined,
        ttl,
        format,
        delimiter,
        header: hasNoHeader ? 'false' : undefined,
        atomicity: skipBadRows ? 'skipRow' : undefined,
        fmt: 'json',
      },
      headers: {
        'content-type': 'application/octet-stream',
        ...(totalBytes !== undefined && { 'content-length': totalBytes }),
      },
      body,
      ...stop,
    });
  }

  export({ handle, columns, limit }: FlightSelection, format: string, stop: Stoppable): Promise<AnswerBody> {
    return this.http.bytes({
      path: 'exp',
      query: { handle, fmt: format, limit, cols: columns?.map(quoteColumn).join(',') },
      ...stop,
    });
  }

  /** The next rows of a frame, whole: waits for some, and gives none where none came for half a minute. */
  async nextRows(request: RowsRequest, stop: Stoppable): Promise<NextRows> {
    const { handle, from, lineage, columns, where, format, hasNames } = request;
    const body = await this.http.bytes({
      path: `${pathOf(handle)}/rows`,
      query: {
        from,
        live: 'long-poll',
        // The first answer tells where the frame is, and comes at once.
        wait: lineage === undefined ? '0s' : undefined,
        fmt: format,
        lineage,
        columns: columns?.map(quoteColumn).join(','),
        where,
        nm: hasNames ? undefined : true,
      },
      ...stop,
    });
    const pieces: Uint8Array[] = [];
    for await (const piece of body) pieces.push(piece);
    const { 'next-row': next, lineage: found } = body.headers;
    return { bytes: Buffer.concat(pieces), next: Number(next), lineage: String(found) };
  }

  /** A frame as Arrow: over Flight, or over HTTP where Flight does not come through. */
  async arrow(selection: FlightSelection, stop: Stoppable): Promise<AsyncIterable<MessageParts>> {
    const flight = await this.flightIfReachable(stop);
    if (flight !== undefined) return flight.get(selection, stop);
    return readArrow(new ByteReader(await this.export(selection, 'arrow', stop)));
  }

  /** Over the frames, on the engine that is named; the external database is asked as QuestDB's clients do. */
  sql({ sql, engine, format, limit, params, settings, id }: SqlOptions, stop: Stoppable): Promise<AnswerBody> {
    if (engine === 'tsdb') {
      const path = format === 'json' ? 'exec' : 'exp';
      return this.http.bytes({ path, query: { query: sql, engine, fmt: format, limit }, ...stop });
    }
    return this.http.bytes({
      method: 'POST',
      path: 'sql',
      headers: { 'content-type': 'application/json', ...(id !== undefined && { 'x-request-id': id }) },
      body: JSON.stringify({ sql, engine, format, limit, params, settings }),
      ...stop,
    });
  }

  close(): void {
    this.#flight?.close();
  }
}

function pathOf(handle: string): string {
  return `handles/${encodeURIComponent(handle)}`;
}

function sharePath(handle: string, tenant: string): string {
  return `${pathOf(handle)}/shares/${encodeURIComponent(tenant)}`;
}

/** As `cols` takes a name: in quotes, with a backslash before what means something there. */
function quoteColumn(name: string): string {
  return `"${name.replaceAll(/["\\]/g, '\\$&')}"`;
}
