import { type ClientHttp2Session, connect } from 'node:http2';
import type { ConnectionOptions } from 'node:tls';
import { tryReadMessageHead } from '@framehold/arrow-ipc';
import { bytesField, type Pieces } from '@framehold/grpc';
import {
  descriptorType,
  FlightData,
  FlightDescriptor,
  flightServiceName,
  PutResult,
  Ticket,
} from '@framehold/grpc/flight';
import type { Kept, Mode } from '../operations.ts';
import type { ArrowMessage } from './arrow-reader.ts';
import { callServer } from './flight-call.ts';
import { type Hints, unreachable } from './hints.ts';
import { tlsFailure } from './tls.ts';

/** HTTP/2's own 64 KiB make large downloads wait for each other's acknowledgements. */
const windowBytes = 8 * 1024 * 1024;
const connectTimeoutMs = 5000;
/** Of FlightData: field 1000, bytes. */
const bodyTag = Buffer.from([0xc2, 0x3e]);

export interface FlightPut {
  /** Undefined: the server makes one. */
  readonly handle: string | undefined;
  readonly mode: Mode;
  readonly ttl?: number | string | undefined;
}

export interface FlightSelection {
  readonly handle: string;
  readonly columns?: readonly string[] | undefined;
  readonly from?: number | undefined;
  readonly to?: number | undefined;
}

export interface FlightConnection {
  readonly signal: AbortSignal;
  readonly headers: Readonly<Record<string, string>>;
  /** Undefined: in clear text. */
  readonly tls: ConnectionOptions | undefined;
  readonly hints: Hints;
}

/** Arrow Flight to one server, over one connection. */
export class FlightClient {
  readonly #session: ClientHttp2Session;
  readonly address: string;

  readonly #headers: Readonly<Record<string, string>>;
  readonly #advice: Hints['advice'];
  #calls = 0;

  private constructor(
    session: ClientHttp2Session,
    address: string,
    { headers, hints }: Pick<FlightConnection, 'headers' | 'hints'>,
  ) {
    this.#headers = headers;
    this.#advice = hints.advice;
    this.#session = session;
    this.address = address;
    session.unref();
  }

  static connect(
    { host, port }: { readonly host: string; readonly port: number },
    { signal, headers, tls, hints }: FlightConnection,
  ): Promise<FlightClient> {
    const authority = `${host.includes(':') ? `[${host}]` : host}:${port}`;
    const address = `${tls === undefined ? 'grpc' : 'grpc+tls'}://${authority}`;
    const settings = { initialWindowSize: windowBytes };
    const session = connect(`${tls === undefined ? 'http' : 'https'}://${authority}`, { ...tls, settings });
    return new Promise((resolve, reject) => {
      const fail = (error: NodeJS.ErrnoException): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', onAbort);
        session.destroy();
        reject(
          signal.aborted
            ? signal.reason
            : (tlsFailure(address, error, hints) ?? unreachable(address, error, hints.server)),
        );
      };
      const onAbort = (): void => fail(new Error('stopped'));
      const timer = setTimeout(
        () => fail(Object.assign(new Error('timed out'), { code: 'ETIMEDOUT' })),
        connectTimeoutMs,
      );
      signal.addEventListener('abort', onAbort);
      session.once('error', fail);
      // Only a server that speaks HTTP/2 sends its settings.
      session.once('remoteSettings', () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', onAbort);
        session.off('error', fail).on('error', () => {});
        session.setLocalWindowSize(windowBytes);
        resolve(new FlightClient(session, address, { headers, hints }));
      });
    });
  }

  /** Asks for the server's health. */
  async check({ signal }: { readonly signal: AbortSignal }): Promise<void> {
    for await (const _ of this.#call('/grpc.health.v1.Health/Check', [[]], signal));
  }

  async *get(
    { handle, columns, from, to }: FlightSelection,
    { signal }: { readonly signal: AbortSignal },
  ): AsyncGenerator<ArrowMessage, void, undefined> {
    const ticket = Ticket.encode({ ticket: Buffer.from(JSON.stringify({ handle, columns, from, to })) });
    for await (const message of this.#call(`/${flightServiceName}/DoGet`, [[ticket]], signal)) {
      const { dataHeader, dataBody } = FlightData.decode(message);
      if (dataHeader.length > 0) yield { header: dataHeader, body: dataBody };
    }
  }

  async put(
    put: FlightPut,
    messages: AsyncIterable<ArrowMessage>,
    { signal }: { readonly signal: AbortSignal },
  ): Promise<Kept> {
    let rows = 0;
    const requests = flightData(put, messages, (sent) => {
      rows += sent;
    });
    let answer: Omit<Kept, 'rows' | 'repeated'> | undefined;
    for await (const message of this.#call(`/${flightServiceName}/DoPut`, requests, signal)) {
      answer = JSON.parse(Buffer.from(PutResult.decode(message).appMetadata).toString());
    }
    if (answer === undefined) throw new Error('the server kept an upload without saying what it kept');
    return { handle: answer.handle, version: answer.version, bytes: answer.bytes, rows, repeated: false };
  }

  get isOpen(): boolean {
    return !this.#session.closed && !this.#session.destroyed;
  }

  close(): void {
    this.#session.destroy();
  }

  /** Only a call keeps the program alive, not the connection. */
  async *#call(path: string, requests: AsyncIterable<Pieces> | Iterable<Pieces>, signal: AbortSignal) {
    this.#calls += 1;
    this.#session.ref();
    try {
      const options = { path, address: this.address, signal, headers: this.#headers, advice: this.#advice };
      yield* callServer(this.#session, requests, options);
    } finally {
      this.#calls -= 1;
      if (this.#calls === 0 && this.isOpen) this.#session.unref();
    }
  }
}

/** The first message also has the descriptor for all of them. */
async function* flightData(
  { handle, mode, ttl }: FlightPut,
  messages: AsyncIterable<ArrowMessage>,
  onRows: (rows: number) => void,
): AsyncGenerator<Pieces, void, undefined> {
  const cmd = Buffer.from(JSON.stringify({ handle, mode, ttl: ttl === 'none' ? null : ttl }));
  let descriptor: Uint8Array[] = [bytesField(1, FlightDescriptor.encode({ type: descriptorType.cmd, cmd }))];
  for await (const { header, body } of messages) {
    yield [...descriptor, bytesField(2, header), bodyTag, varint(body.length), body];
    onRows(tryReadMessageHead(header)?.rows ?? 0);
    descriptor = [];
  }
}

function varint(value: number): Uint8Array {
  const bytes: number[] = [];
  let rest = value;
  for (; rest > 0x7f; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 0x80);
  bytes.push(rest);
  return Uint8Array.from(bytes);
}
