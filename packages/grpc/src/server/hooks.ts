import type { IncomingHttpHeaders } from 'node:http2';
import type { Socket } from 'node:net';
import type { Share } from '../wire/capacity.ts';
import type { GrpcStatusName } from '../wire/grpc-status.ts';
import type { Failure } from './failure.ts';
import type { Message } from './method.ts';

/** What the user of a listener decides about a connection. */
export interface ConnectionHooks<Principal> {
  /** In which turn a call is looked at, where many come at once. Nothing else is known of it yet. */
  laneOf(metadata: IncomingHttpHeaders): string;
  begin(call: IncomingCall): CallHooks<Principal>;
}

/** A call as it arrives. */
export interface IncomingCall {
  /** `/package.Service/Method` */
  readonly path: string;
  readonly metadata: IncomingHttpHeaders;
  /** Names and values in turn, as received. Node drops a second `authorization` from `metadata`. */
  readonly rawHeaders: readonly string[] | undefined;
  /** Its service serves anybody: nobody is authenticated, and it needs no place. */
  readonly isOpen: boolean;
  /** It is answered, or its client is gone. */
  readonly hasEnded: boolean;
  /** Ends it with this error, even if its handler goes on. */
  abort(reason: Error): void;
}

/** What the user of a listener decides about a call, and learns of it. */
export interface CallHooks<Principal> {
  /** Stands in the trailer `x-request-id` of an error. */
  readonly requestId: string;
  /** In which turn the call is served where it must wait: `tenant#caller#connection`. Who has many connections has one turn. */
  readonly lane: string;
  /** Throws or rejects where the caller is refused. */
  authenticate(): Principal | Promise<Principal>;
  /** A place among running calls, which it then waits for. Default: there is room for all. */
  openPlace?(): Share | undefined;
  /** Work for it goes on, after a wait. */
  readonly goesOn?: (() => void) | undefined;
  /** Before each part of a good answer. Undefined where it may be sent at once. */
  readonly acknowledge?: (() => Promise<void> | undefined) | undefined;
  /** A message of its answer is about to be sent. */
  readonly sending?: ((message: Message) => void) | undefined;
  /** The client's view of an error. Default: `failureOf`. */
  failed?(thrown: unknown): Failure;
  /** Its stream is gone. */
  ended?(outcome: EndedCall): void;
}

export interface EndedCall {
  /** CANCELLED where the client went away. */
  readonly status: GrpcStatusName;
  /** It waited for something to happen. */
  readonly hasWaited: boolean;
  /** When the response began, on the clock of `performance.now`. Undefined where there was none. */
  readonly answeredMs: number | undefined;
}

let calls = 0;

/** Anybody may call. Connections of an address take turns. */
export function anybody({ remoteAddress = '' }: Socket): ConnectionHooks<undefined> {
  return {
    laneOf: () => remoteAddress,
    begin: () => ({
      requestId: String(++calls),
      lane: remoteAddress,
      authenticate: () => undefined,
    }),
  };
}
