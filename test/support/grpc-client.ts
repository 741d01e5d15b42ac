import { fileURLToPath } from 'node:url';
import {
  Client,
  type ClientOptions,
  type ClientReadableStream,
  credentials,
  loadPackageDefinition,
  Metadata,
  type ServiceClientConstructor,
  type ServiceError,
} from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';

const identity = (bytes: Buffer): Buffer => bytes;

export interface Answer {
  readonly code: number;
  readonly message: string;
  readonly trailers: Metadata;
  readonly messages: readonly Buffer[];
}

interface CallOptions {
  readonly deadlineMs?: number;
  readonly headers?: Metadata;
}

/** grpc-js, an implementation of gRPC that shares nothing with ours, over bytes. */
export class GrpcClient implements Disposable {
  readonly #client: Client;

  constructor(port: number, options: ClientOptions = {}) {
    // Without a pool of its own each client of a test would share the connection of the others.
    const own = { 'grpc.use_local_subchannel_pool': 1, ...options };
    this.#client = new Client(`127.0.0.1:${port}`, credentials.createInsecure(), own);
  }

  unary(path: string, request: Uint8Array, options: CallOptions = {}): Promise<Answer> {
    return new Promise((resolve) => {
      const messages: Buffer[] = [];
      const call = this.#client.makeUnaryRequest(
        path,
        identity,
        identity,
        Buffer.from(request),
        options.headers ?? new Metadata(),
        deadline(options),
        (error: ServiceError | null, value?: Buffer) => {
          if (error !== null) {
            resolve({ code: error.code, message: error.details, trailers: error.metadata, messages });
          } else if (value !== undefined) messages.push(value);
        },
      );
      call.on('status', (status) => {
        resolve({ code: status.code, message: status.details, trailers: status.metadata, messages });
      });
    });
  }

  /** Sends all requests, ends, and gathers the answers. */
  stream(path: string, requests: readonly Uint8Array[], options: CallOptions = {}): Promise<Answer> {
    const call = this.#client.makeBidiStreamRequest(
      path,
      identity,
      identity,
      options.headers ?? new Metadata(),
      deadline(options),
    );
    for (const request of requests) call.write(Buffer.from(request));
    call.end();
    return gather(call);
  }

  /** A call whose answers are read by hand. */
  open(
    path: string,
    request: Uint8Array,
    { headers = new Metadata() }: CallOptions = {},
  ): ClientReadableStream<Buffer> {
    const call = this.#client.makeServerStreamRequest(path, identity, identity, Buffer.from(request), headers);
    // Its status is looked at instead; unheard, the error would end the process.
    call.on('error', () => {});
    return call;
  }

  [Symbol.dispose](): void {
    this.#client.close();
  }
}

export function gather(call: ClientReadableStream<Buffer>): Promise<Answer> {
  return new Promise((resolve) => {
    const messages: Buffer[] = [];
    call.on('data', (message: Buffer) => messages.push(message));
    call.on('error', () => {});
    call.on('status', ({ code, details, metadata }) =>
      resolve({ code, message: details, trailers: metadata, messages }),
    );
  });
}

function deadline({ deadlineMs }: CallOptions): { deadline?: number } {
  return deadlineMs === undefined ? {} : { deadline: Date.now() + deadlineMs };
}

/** A stock health client, made from the published protocol. */
export function healthClient(port: number): InstanceType<ServiceClientConstructor> {
  const path = fileURLToPath(new URL('../../proto/grpc/health/v1/health.proto', import.meta.url));
  const definition = loadPackageDefinition(loadSync(path, { enums: String, defaults: true }));
  const Health = (definition as unknown as { grpc: { health: { v1: { Health: ServiceClientConstructor } } } }).grpc
    .health.v1.Health;
  return new Health(`127.0.0.1:${port}`, credentials.createInsecure(), { 'grpc.use_local_subchannel_pool': 1 });
}
