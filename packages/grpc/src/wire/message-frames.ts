import { CodedError } from '@framehold/columns';
import type { Share } from './capacity.ts';
import { GrpcError } from './grpc-status.ts';

export const prefixBytes = 5;

export interface FrameLimits {
  readonly maxMessageBytes: number;
  /** The request's header `grpc-encoding`. */
  readonly encoding: string | undefined;
  /** Memory for messages. Its owner disposes of it at the end. Default: no bound. */
  readonly memory?: Share | undefined;
}

/** The five bytes before a message: not compressed, and its length. */
export function messagePrefix(bytes: number): Buffer {
  const prefix = Buffer.allocUnsafe(prefixBytes);
  prefix[0] = 0;
  prefix.writeUInt32BE(bytes, 1);
  return prefix;
}

/** The received part of a message. `left` more bytes of it follow. */
export interface MessagePiece {
  readonly bytes: Buffer;
  readonly left: number;
}

/** Cuts a body, as it arrives, into its messages. A message that arrived in one chunk is a view of that chunk. */
export class MessageReader implements AsyncIterable<Uint8Array> {
  readonly #chunks: AsyncIterator<Buffer>;
  readonly #limits: FrameLimits;
  readonly #prefix = Buffer.alloc(prefixBytes);
  #prefixFilled = 0;
  /** The rest of the last chunk, and of the current message. */
  #chunk: Buffer = none;
  #left = 0;
  /** Memory of the last joined message. */
  #held = 0;

  constructor(body: AsyncIterable<Buffer>, limits: FrameLimits) {
    this.#chunks = body[Symbol.asyncIterator]();
    this.#limits = limits;
  }

  /** The next bytes of the current message, or the first ones of the next message; undefined at the end. */
  async piece(): Promise<MessagePiece | undefined> {
    for (;;) {
      if (this.#left > 0 && this.#chunk.length > 0) return this.#take();
      if (this.#chunk.length === 0) {
        const step = await this.#chunks.next();
        if (step.done === true) {
          if (this.#left > 0 || this.#prefixFilled > 0) throw endedInside();
          return undefined;
        }
        this.#chunk = step.value;
      } else if (this.#begin()) return this.#take();
    }
  }

  /** The whole message that begins with a piece. */
  async whole(first: MessagePiece): Promise<Uint8Array> {
    if (first.left === 0) return first.bytes;
    // Neither pooled nor zeroed: the system gives the pages as they are written, so that memory follows the received bytes and
    // not the announced length.
    const message = Buffer.allocUnsafeSlow(first.bytes.length + first.left);
    let filled = 0;
    for (let piece: MessagePiece | undefined = first; piece !== undefined; ) {
      await this.keep(piece.bytes.length);
      this.#held += piece.bytes.length;
      filled += piece.bytes.copy(message, filled);
      piece = piece.left > 0 ? await this.piece() : undefined;
    }
    return message;
  }

  /** Counts bytes that the reader keeps, also longer than their message. */
  async keep(bytes: number): Promise<void> {
    const { memory } = this.#limits;
    if (memory?.tryTake(bytes) === false) await memory.take(bytes);
  }

  /** The reader keeps the last joined message. */
  retain(): void {
    this.#held = 0;
  }

  /** The last joined message is not used any more. */
  drop(): void {
    this.#limits.memory?.give(this.#held);
    this.#held = 0;
  }

  /** Whole messages. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    try {
      for (let piece = await this.piece(); piece !== undefined; piece = await this.piece())
        yield await this.whole(piece);
    } finally {
      await this.leave();
    }
  }

  /** Nothing more is to be read. */
  async leave(): Promise<void> {
    this.drop();
    await this.#chunks.return?.();
  }

  #take(): MessagePiece {
    const bytes = this.#chunk.subarray(0, this.#left);
    this.#chunk = this.#chunk.subarray(bytes.length);
    this.#left -= bytes.length;
    return { bytes, left: this.#left };
  }

  /** Reads on in the prefix of the next message. True where there is nothing behind it to wait for. */
  #begin(): boolean {
    const copied = this.#chunk.copy(this.#prefix, this.#prefixFilled);
    this.#chunk = this.#chunk.subarray(copied);
    this.#prefixFilled += copied;
    if (this.#prefixFilled < prefixBytes) return false;
    this.#prefixFilled = 0;
    this.drop();
    this.#left = parsePrefix(this.#prefix, this.#limits);
    return this.#left === 0;
  }
}

const none = Buffer.alloc(0);

export function endedInside(): GrpcError {
  return new GrpcError('INVALID_ARGUMENT', 'the request ended inside a message');
}

/** The length of the message at the start of a body; undefined while its prefix is incomplete. Throws if it is refused. */
export function checkPrefix(body: Buffer, limits: FrameLimits): number | undefined {
  return body.length < prefixBytes ? undefined : parsePrefix(body, limits);
}

function parsePrefix(prefix: Buffer, { maxMessageBytes, encoding }: FrameLimits): number {
  const flag = prefix[0];
  const bytes = prefix.readUInt32BE(1);
  if (flag === 1) {
    if (encoding === undefined || encoding === 'identity') {
      throw new GrpcError('INTERNAL', 'a message is marked as compressed, but the request has no grpc-encoding');
    }
    throw new GrpcError('UNIMPLEMENTED', `grpc-encoding ${encoding.slice(0, 40)} is not supported; send identity`);
  }
  if (flag !== 0) throw new GrpcError('INVALID_ARGUMENT', `a message begins with byte ${flag}; only 0 and 1 are known`);
  if (bytes > maxMessageBytes) {
    throw new CodedError('too_large', `a message of ${bytes} bytes is over the limit of ${maxMessageBytes} bytes`);
  }
  return bytes;
}
