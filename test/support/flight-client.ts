import { fileURLToPath } from 'node:url';
import {
  type ChannelCredentials,
  type Client,
  type ClientDuplexStream,
  type ClientReadableStream,
  credentials,
  loadPackageDefinition,
  Metadata,
  type ServiceClientConstructor,
  type StatusObject,
} from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';
import { MessageReader, type Table, tableFromIPC } from 'apache-arrow';
import { assertNoSecrets } from './secrets.ts';

const path = fileURLToPath(new URL('../../proto/arrow/flight/Flight.proto', import.meta.url));
const definition = loadSync(path, { keepCase: false, enums: String, longs: Number, defaults: true, oneofs: true });
const packageRoot = loadPackageDefinition(definition) as unknown as {
  arrow: { flight: { protocol: { FlightService: ServiceClientConstructor } } };
};

/** Every RPC that the protocol has. */
export const flightMethods = Object.keys(packageRoot.arrow.flight.protocol.FlightService.service);

export interface FlightDataParts {
  readonly flightDescriptor?: object | undefined;
  readonly dataHeader?: Uint8Array | undefined;
  readonly dataBody?: Uint8Array | undefined;
  readonly appMetadata?: Uint8Array | undefined;
}

export interface FlightAnswer<T> {
  readonly status: StatusObject;
  readonly headers: Metadata;
  readonly messages: readonly T[];
  /** The stable code of an error. */
  readonly code: string | undefined;
}

export interface FlightInfo {
  readonly schema: Buffer;
  readonly flightDescriptor: { type: string; path: string[]; cmd: Buffer };
  readonly endpoint: readonly {
    ticket: { ticket: Buffer };
    location: unknown[];
    expirationTime: { seconds: number } | null;
  }[];
  readonly totalRecords: number;
  readonly totalBytes: number;
  readonly ordered: boolean;
  readonly appMetadata: Buffer;
}

export interface PutOptions {
  readonly headers?: Readonly<Record<string, string>>;
  readonly appMetadata?: object;
}

type Headers = Readonly<Record<string, string>>;

type Stub = Client & Record<string, (...args: unknown[]) => unknown>;

/** A stock Flight client: grpc-js, made from the protocol that we publish. */
export class FlightClient implements Disposable {
  readonly #client: Stub;
  /** Of every call. */
  readonly #headers: Headers;

  /** `channel`: how to secure the connection; without, it is in clear text. */
  constructor(port: number, headers: Headers = {}, channel: ChannelCredentials = credentials.createInsecure()) {
    this.#headers = headers;
    const { FlightService } = packageRoot.arrow.flight.protocol;
    this.#client = new FlightService(`127.0.0.1:${port}`, channel, {
      // Without a pool of its own each client of a test would share the connection of the others.
      'grpc.use_local_subchannel_pool': 1,
      'grpc.max_receive_message_length': -1,
    }) as unknown as Stub;
  }

  /** A call whose messages are written and read by hand. */
  openPut(
    headers: Readonly<Record<string, string>> = {},
  ): ClientDuplexStream<FlightDataParts, { appMetadata: Buffer }> {
    const call = this.#client.DoPut?.(metadataOf({ ...this.#headers, ...headers })) as ClientDuplexStream<
      FlightDataParts,
      { appMetadata: Buffer }
    >;
    call.on('error', () => {});
    return call;
  }

  async put(descriptor: object | undefined, ipc: Uint8Array, options: PutOptions = {}): Promise<FlightAnswer<object>> {
    const call = this.openPut(options.headers);
    const answer = gather(call);
    const [first, ...rest] = flightDataOf(ipc);
    const appMetadata = options.appMetadata && Buffer.from(JSON.stringify(options.appMetadata));
    call.write({ ...first, flightDescriptor: descriptor, appMetadata });
    for (const message of rest) call.write(message);
    call.end();
    const { messages, ...others } = await answer;
    return { ...others, messages: messages.map((result) => JSON.parse(result.appMetadata.toString())) };
  }

  openGet(ticket: Uint8Array | string, headers: Headers = {}): ClientReadableStream<FlightDataParts> {
    const request = { ticket: Buffer.from(ticket) };
    const call = this.#client.DoGet?.(
      request,
      metadataOf({ ...this.#headers, ...headers }),
    ) as ClientReadableStream<FlightDataParts>;
    call.on('error', () => {});
    return call;
  }

  get(ticket: Uint8Array | string, headers: Headers = {}): Promise<FlightAnswer<FlightDataParts>> {
    return gather(this.openGet(ticket, headers));
  }

  async getTable(ticket: Uint8Array | string): Promise<Table> {
    const { status, messages } = await this.get(ticket);
    if (status.code !== 0) throw new Error(`DoGet failed: ${status.details}`);
    return tableFromIPC(ipcOf(messages));
  }

  list(expression = '', headers: Headers = {}): Promise<FlightAnswer<FlightInfo>> {
    const criteria = { expression: Buffer.from(expression) };
    return gather(
      this.#client.ListFlights?.(
        criteria,
        metadataOf({ ...this.#headers, ...headers }),
      ) as ClientReadableStream<FlightInfo>,
    );
  }

  info(descriptor: object, headers: Headers = {}): Promise<FlightAnswer<FlightInfo>> {
    return this.#unary('GetFlightInfo', descriptor, headers);
  }

  schema(descriptor: object): Promise<FlightAnswer<{ schema: Buffer }>> {
    return this.#unary('GetSchema', descriptor);
  }

  poll(descriptor: object): Promise<FlightAnswer<object>> {
    return this.#unary('PollFlightInfo', descriptor);
  }

  exchange(): Promise<FlightAnswer<object>> {
    const call = this.#client.DoExchange?.(metadataOf(this.#headers)) as ClientDuplexStream<object, object>;
    call.end();
    return gather(call);
  }

  action(
    type: string,
    body: Uint8Array | string = '',
    headers: Readonly<Record<string, string>> = {},
  ): Promise<FlightAnswer<{ body: Buffer }>> {
    const request = { type, body: Buffer.from(body) };
    return gather(
      this.#client.DoAction?.(request, metadataOf({ ...this.#headers, ...headers })) as ClientReadableStream<{
        body: Buffer;
      }>,
    );
  }

  actions(): Promise<FlightAnswer<{ type: string; description: string }>> {
    type ActionType = { type: string; description: string };
    return gather(this.#client.ListActions?.({}, metadataOf(this.#headers)) as ClientReadableStream<ActionType>);
  }

  handshake(headers: Readonly<Record<string, string>>): ClientDuplexStream<object, { payload: Buffer }> {
    return this.#client.Handshake?.(metadataOf({ ...this.#headers, ...headers })) as ClientDuplexStream<
      object,
      { payload: Buffer }
    >;
  }

  [Symbol.dispose](): void {
    this.#client.close();
  }

  #unary<T>(method: string, request: object, given: Headers = {}): Promise<FlightAnswer<T>> {
    return new Promise((resolve) => {
      const messages: T[] = [];
      let headers = new Metadata();
      const call = this.#client[method]?.(
        request,
        metadataOf({ ...this.#headers, ...given }),
        (_: unknown, value?: T) => {
          if (value !== undefined) messages.push(value);
        },
      ) as ClientReadableStream<T>;
      call.on('metadata', (received) => {
        headers = received;
      });
      call.on('status', (status) => setImmediate(() => resolve({ status, headers, messages, code: codeOf(status) })));
    });
  }
}

export function gather<T>(call: ClientReadableStream<T> | ClientDuplexStream<never, T>): Promise<FlightAnswer<T>> {
  return new Promise((resolve) => {
    const messages: T[] = [];
    let headers = new Metadata();
    call.on('error', () => {});
    call.on('metadata', (given) => {
      headers = given;
    });
    call.on('data', (message: T) => messages.push(message));
    call.on('status', (status) => resolve({ status, headers, messages, code: codeOf(status) }));
  });
}

function codeOf(status: StatusObject): string | undefined {
  // ADBC copies all headers and trailers of a failed call into its error.
  assertNoSecrets('a status', `${status.details}${JSON.stringify(status.metadata.getMap())}`);
  return status.metadata.get('framehold-code')[0]?.toString();
}

function metadataOf(headers: Readonly<Record<string, string>>): Metadata {
  const metadata = new Metadata();
  for (const [name, value] of Object.entries(headers)) metadata.set(name, value);
  return metadata;
}

export const byPath = (...parts: string[]): object => ({ type: 'PATH', path: parts });
export const byCommand = (command: object | string | Uint8Array): object => {
  const isBytes = typeof command === 'string' || command instanceof Uint8Array;
  return { type: 'CMD', cmd: Buffer.from(isBytes ? command : JSON.stringify(command)) };
};

/** The messages of an Arrow IPC stream as Flight sends them. */
export function flightDataOf(ipc: Uint8Array): { dataHeader: Buffer; dataBody: Buffer }[] {
  const bytes = Buffer.from(ipc);
  const parts: { dataHeader: Buffer; dataBody: Buffer }[] = [];
  const reader = new MessageReader(bytes);
  let at = 0;
  for (const message of reader) {
    reader.readMessageBody(message.bodyLength);
    const bodyAt = at + 8 + bytes.readInt32LE(at + 4);
    const end = bodyAt + message.bodyLength;
    parts.push({ dataHeader: bytes.subarray(at + 8, bodyAt), dataBody: bytes.subarray(bodyAt, end) });
    at = end;
  }
  return parts;
}

/** The Arrow IPC stream of messages from Flight. */
export function ipcOf(messages: readonly FlightDataParts[]): Buffer {
  return Buffer.concat(
    messages.flatMap(({ dataHeader = new Uint8Array(0), dataBody = new Uint8Array(0) }) => {
      const prefix = Buffer.alloc(8, 0xff);
      prefix.writeInt32LE(dataHeader.length, 4);
      return [prefix, dataHeader, dataBody];
    }),
  );
}
