import type { IncomingHttpHeaders } from 'node:http2';
import type { Capacity } from '../wire/capacity.ts';
import type { MessageReader } from '../wire/message-frames.ts';

/** The facts of a call for its handler. */
export interface Call<Principal = unknown> {
  /** `/package.Service/Method` */
  readonly path: string;
  /** Stands in the log, and in the trailer `x-request-id` of an error. */
  readonly requestId: string;
  /** The caller, as `authenticate` gave it. */
  readonly principal: Principal;
  /** In which turn it is served where it must wait. */
  readonly lane: string;
  readonly metadata: IncomingHttpHeaders;
  /** Aborted when the client leaves or cancels, when its deadline passes, and when the server has no time left to stop. */
  readonly signal: AbortSignal;
  /** Adds a header to the answer. Only before its first message, and not with an error. */
  setHeader(name: string, value: string): void;
  /** From now on it waits for an event: its duration has no meaning. */
  waits(): void;
}

/** One message: its bytes, or pieces of it that are sent one behind the other without a copy. */
export type Message = Uint8Array | readonly Uint8Array[] | NotedMessage;

/** A message whose sender is notified when its pieces have left and are not used any more. */
export interface NotedMessage {
  readonly pieces: readonly Uint8Array[];
  readonly onSent: () => void;
}

export function piecesOf(message: Message): readonly Uint8Array[] {
  if (message instanceof Uint8Array) return [message];
  return 'pieces' in message ? message.pieces : message;
}

interface Limits {
  /** A longer message from the client is refused. Default 4 MiB. */
  readonly maxMessageBytes?: number;
  /** Most time for which a client may send nothing while its next bytes are waited for. Default: for ever. */
  readonly idleTimeoutMs?: number;
  /** For messages that arrive, shared by all calls. Default: no bound but that of each message. */
  readonly memory?: Capacity;
}

export interface UnaryMethod<Principal = unknown> extends Limits {
  readonly kind: 'unary';
  handle(request: Uint8Array, call: Call<Principal>): Message | Promise<Message>;
}

/** A stream of messages, or all of them at once: these are sent together, with the trailers behind them. */
export type Messages = AsyncIterable<Message> | readonly Message[];

/** One request message, any number of answers. */
export interface ServerStreamingMethod<Principal = unknown> extends Limits {
  readonly kind: 'serverStreaming';
  handle(request: Uint8Array, call: Call<Principal>): AsyncIterable<Message> | Promise<Messages>;
}

/** Any number of messages in, any number out. Both sides are pulled: a slow reader slows the writer. */
export interface StreamingMethod<Principal = unknown> extends Limits {
  readonly kind: 'streaming';
  handle(requests: MessageReader, call: Call<Principal>): AsyncIterable<Message>;
}

export type Method<Principal = unknown> =
  | UnaryMethod<Principal>
  | ServerStreamingMethod<Principal>
  | StreamingMethod<Principal>;

export interface Service<Principal = unknown> {
  /** `package.Service` */
  readonly name: string;
  readonly methods: Readonly<Record<string, Method<Principal>>>;
  /** Serves anybody, also without credentials: its calls have no principal. */
  readonly isOpen?: boolean;
  /** Called when the server will stop soon. */
  announceStop?(): void;
  /** Called when the listener begins to stop: end streams that would otherwise go on for ever. */
  drain?(): void;
}
