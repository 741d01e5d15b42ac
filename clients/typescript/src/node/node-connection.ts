import { Connection } from '../connection.ts';
import { ConnectionError } from '../errors.ts';
import { Http, type HttpOptions, type Stoppable } from '../http.ts';
import type { GetOptions, Put, PutOptions, ServerInfo } from '../operations.ts';
import type { Selection } from '../selection.ts';
import { blobPieces, countedPieces, HttpAnswer, onePiece, piecesOf, type RequestBody } from '../transport.ts';
import { type PutData, peeked, type RowObject, uploadOf } from '../upload.ts';
import { type ArrowMessage, isArrow, readArrow } from './arrow-reader.ts';
import { arrowStream } from './arrow-writer.ts';
import { ByteReader } from './byte-reader.ts';
import type { FlightClient } from './flight-client.ts';
import { defaultHints, type Hints } from './hints.ts';
import { HttpTransport } from './http-transport.ts';
import { type ClientTls, verifiedAs } from './tls.ts';

export interface NodeConnectionOptions extends HttpOptions {
  readonly tls?: ClientTls | undefined;
  readonly hints?: Hints | undefined;
}

/** A port that is blocked is not tried with each operation. */
const noFlightMs = 60_000;

/** One server, over HTTP and Flight. */
export class NodeConnection extends Connection {
  readonly #transport: HttpTransport;
  readonly #tls: ClientTls;
  readonly #hints: Hints;
  #info: ServerInfo | undefined;
  #flight: FlightClient | undefined;
  #noFlightUntilMs = 0;

  constructor(server: string, { tls = {}, hints = defaultHints, ...options }: NodeConnectionOptions = {}) {
    const transport = new HttpTransport(server, tls, hints);
    super(new Http(transport, options, hints));
    this.#transport = transport;
    this.#tls = tls;
    this.#hints = hints;
  }

  /** Its gRPC listener, at the address that the server reports. */
  async flight({ signal = new AbortController().signal }: Stoppable = {}): Promise<FlightClient> {
    if (this.#flight?.isOpen !== true) {
      this.#info ??= await this.server({ signal });
      const { grpc } = this.#info;
      const isWildcard = grpc.host === '0.0.0.0' || grpc.host === '::';
      const address = { host: isWildcard ? this.#transport.host : grpc.host, port: grpc.port };
      // HTTP/2 takes a while to load, and most programs need none.
      const flight = await import('./flight-client.ts');
      // Verified as the server that was asked: its certificate may not have the address that it listens at.
      const tls = grpc.tls === true ? { ...this.#tls, ...verifiedAs(this.#transport.host) } : undefined;
      const headers = this.http.credentials;
      this.#flight = await flight.FlightClient.connect(address, { signal, headers, tls, hints: this.#hints });
    }
    return this.#flight;
  }

  /** The same, or undefined where only HTTP comes through: port forwarding, proxies. */
  async flightIfReachable(stop: Stoppable = {}): Promise<FlightClient | undefined> {
    if (performance.now() < this.#noFlightUntilMs) return undefined;
    try {
      return await this.flight(stop);
    } catch (error) {
      const isGrpc =
        error instanceof ConnectionError && error.code === 'unreachable' && /grpc(\+tls)?:\/\//.test(error.message);
      if (!isGrpc) throw error;
      this.#noFlightUntilMs = performance.now() + noFlightMs;
      return undefined;
    }
  }

  /** Arrow goes over Flight where that comes through, all else over HTTP. */
  override async put(name: string | undefined, data: PutData, options: PutOptions = {}): Promise<Put> {
    const { mode = 'create', ttl, format = 'arrow', onProgress, signal = new AbortController().signal } = options;
    const { start, rest } = await beginningOf(data);
    const flight = format === 'arrow' && isArrow(start) ? await this.flightIfReachable({ signal }) : undefined;
    if (flight === undefined) return super.put(name, rest, options);
    const { body, totalBytes = options.totalBytes } = await uploadOf(rest);
    const pieces = countedPieces(iterable(body), (sentBytes) => onProgress?.({ sentBytes, totalBytes }));
    const kept = await flight.put({ handle: name, mode, ttl }, readArrow(new ByteReader(pieces)), { signal });
    // Flight does not return the columns.
    return { ...kept, columns: undefined, rejectedRows: 0, rejections: [] };
  }

  /** Arrow comes over Flight where that comes through, all else over HTTP. */
  override get<Row = RowObject>(name: string, options: GetOptions = {}): Selection<Row> {
    return this.selection(async (format) => {
      if (format !== 'arrow') return this.openFrame(name, options, format);
      return new HttpAnswer(200, new Headers(), arrowStream(await this.arrowMessages(name, options)));
    });
  }

  /** The messages of a frame in Arrow: over Flight, or over HTTP where Flight does not come through. */
  async arrowMessages(name: string, options: GetOptions = {}): Promise<AsyncIterable<ArrowMessage>> {
    const { columns, rows: [from, to] = [], signal = new AbortController().signal } = options;
    const flight = await this.flightIfReachable({ signal });
    if (flight !== undefined) return flight.get({ handle: name, columns, from, to }, { signal });
    return readArrow(new ByteReader(await this.openFrame(name, options, 'arrow')));
  }

  override close(): void {
    super.close();
    this.#flight?.close();
  }
}

const magicBytes = 8;

/** The first bytes of a put; none for rows. */
async function beginningOf(data: PutData): Promise<{ readonly start: Uint8Array; readonly rest: PutData }> {
  if (data instanceof Uint8Array) return { start: data.subarray(0, magicBytes), rest: data };
  if (data instanceof ArrayBuffer) return { start: new Uint8Array(data.slice(0, magicBytes)), rest: data };
  if (data instanceof Blob) return { start: new Uint8Array(await data.slice(0, magicBytes).arrayBuffer()), rest: data };
  if (typeof data === 'string' || Array.isArray(data)) return { start: new Uint8Array(), rest: data };
  const stream = data instanceof ReadableStream ? piecesOf(data) : data;
  if (typeof stream !== 'object' || !(Symbol.asyncIterator in stream)) return { start: new Uint8Array(), rest: data };
  const { isRows, all } = await peeked(stream);
  if (isRows) return { start: new Uint8Array(), rest: all };
  const reader = new ByteReader(all as AsyncIterable<Uint8Array>);
  return { start: await reader.peek(magicBytes), rest: reader.rest() };
}

function iterable(body: RequestBody): AsyncIterable<Uint8Array> {
  if (body instanceof Blob) return blobPieces(body);
  return body instanceof Uint8Array ? onePiece(body) : (body as AsyncIterable<Uint8Array>);
}
