import type { X509Certificate } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http2';
import type { Socket } from 'node:net';
import {
  type CallHooks,
  type ConnectionHooks,
  type EndedCall,
  type Failure,
  GrpcError,
  type GrpcStatusName,
  type IncomingCall,
  type Message,
  piecesOf,
  type Share,
} from '@framehold/grpc';
import type { FairShares } from '../core/async/fair-shares.ts';
import type { Audit, AuditRecord } from '../core/callers/audit.ts';
import type { CredentialWatch, WatchedRequest } from '../core/callers/credential-watch.ts';
import { type Caller, type Identify, laneOf, laneOfUnknown, type Principal } from '../core/callers/principal.ts';
import { AppError, type ErrorCode, isFault, loggedError, toAppError } from '../core/errors/app-error.ts';
import type { Logger } from '../core/logs/logger.ts';
import type { BeginSpan, Span } from '../core/logs/span.ts';
import { requestIdOf } from '../core/names/request-id.ts';
import type { EventLoopWatch } from '../telemetry/event-loop-watch.ts';
import type { RequestCounter } from '../telemetry/request-counter.ts';
import { parseTraceparent } from '../telemetry/tracing/trace-context.ts';
import { clientCertificate } from '../tls/client-certificate.ts';
import { failureOf } from './error-status.ts';

/** The parts of the server that take part in calls. */
export interface CallParts {
  readonly identify: Identify;
  /** Throws where the caller has sent too many. */
  readonly admit?: ((principal: Principal) => void) | undefined;
  /** Places for running calls. Default: any number. */
  readonly calls?: FairShares | undefined;
  /** Undefined: there is none. */
  readonly audit?: Audit | undefined;
  /** Undefined where there are no credentials that could end. */
  readonly watch?: CredentialWatch | undefined;
  /** Undefined: none is traced. */
  readonly beginSpan?: BeginSpan | undefined;
  /** Counts its calls. Undefined: not counted. */
  readonly counter?: RequestCounter | undefined;
  /** Watches how long each turn of the event loop takes. Undefined: not watched. */
  readonly eventLoop?: EventLoopWatch | undefined;
}

const failures: ReadonlySet<GrpcStatusName> = new Set([
  'UNKNOWN',
  'DEADLINE_EXCEEDED',
  'INTERNAL',
  'UNAVAILABLE',
  'DATA_LOSS',
]);

/** The calls of one connection. */
export class CallsOfConnection implements ConnectionHooks<Principal> {
  readonly parts: CallParts;
  readonly address: string;
  readonly certificate: X509Certificate | undefined;
  /** Its number on its listener. */
  readonly id: string;
  readonly logger: Logger;

  constructor(parts: CallParts, socket: Socket, id: string, logger: Logger) {
    this.parts = parts;
    this.address = socket.remoteAddress ?? '';
    this.certificate = clientCertificate(socket);
    this.id = id;
    this.logger = logger;
  }

  laneOf({ authorization }: IncomingHttpHeaders): string {
    return laneOfUnknown(this.address, authorization, this.id);
  }

  begin(call: IncomingCall): CallHooks<Principal> {
    return new CallOfCaller(this, call);
  }
}

/** One call: who calls, what they may, and what is known of it afterwards. */
class CallOfCaller implements CallHooks<Principal> {
  readonly requestId: string;
  // Functions of their own, and none where nobody listens: they are called for each message.
  readonly goesOn: (() => void) | undefined;
  readonly acknowledge: (() => Promise<void> | undefined) | undefined;
  readonly sending: ((message: Message) => void) | undefined;
  readonly #connection: CallsOfConnection;
  readonly #call: IncomingCall;
  /** The path without its first slash. */
  readonly #route: string;
  readonly #beganMs: number;
  readonly #span: Span | undefined;
  /** Its line of the audit, where it has one. */
  readonly #record: AuditRecord | undefined;
  #principal: Principal | undefined;
  #watched: WatchedRequest | undefined;
  /** The code or status of its failure. */
  #failure: string | undefined;
  #fault: ErrorCode | undefined;

  constructor(connection: CallsOfConnection, call: IncomingCall) {
    const { audit, counter, eventLoop, beginSpan } = connection.parts;
    const { path, metadata, isOpen } = call;
    this.#connection = connection;
    this.#call = call;
    this.#beganMs = counter?.begin() ?? 0;
    const route = path.slice(1);
    const givenId = metadata['x-request-id'];
    const requestId = requestIdOf(givenId);
    this.#route = route;
    this.requestId = requestId;
    if (!isOpen) {
      this.#span = beginSpan?.(route, metadata.traceparent, {
        'rpc.system.name': 'grpc',
        'rpc.method': route,
        'framehold.request_id': requestId,
      });
    }
    const work = { route, requestId };
    this.goesOn = eventLoop && (() => eventLoop.goesOn(work));
    this.goesOn?.();
    if (isOpen || audit === undefined) return;
    const { address } = connection;
    const record = audit.begin({ door: 'grpc', method: path, isChange: false, requestId, givenId, address });
    this.#record = record;
    this.acknowledge = () => record.acknowledge();
    this.sending = (message) => noteBytes(record, message);
  }

  get lane(): string {
    const { address, id } = this.#connection;
    const principal = this.#principal;
    return principal === undefined ? this.#connection.laneOf(this.#call.metadata) : laneOf(principal, address, id);
  }

  authenticate(): Principal | Promise<Principal> {
    const { address, certificate, parts } = this.#connection;
    const { metadata: headers, rawHeaders } = this.#call;
    const caller = { headers, rawHeaders, address, certificate };
    const identified = parts.identify(caller);
    if (!(identified instanceof Promise)) return this.#admit(identified, caller);
    return identified.then((known) => this.#admit(known, caller));
  }

  openPlace(): Share | undefined {
    return this.#connection.parts.calls?.open({ lane: this.lane, revoke: this.#call.abort });
  }

  failed(thrown: unknown): Failure {
    const { path, metadata } = this.#call;
    const { requestId } = this;
    const error = thrown instanceof GrpcError ? thrown : toAppError(thrown);
    const code = error instanceof AppError ? error.code : undefined;
    this.#failure = error instanceof AppError ? error.code : error.status.toLowerCase();
    this.#fault = code !== undefined && isFault(code) ? code : undefined;
    const level = code === 'internal' ? 'error' : 'debug';
    const traceId = this.#span?.traceId ?? parseTraceparent(metadata.traceparent)?.traceId;
    this.#connection.logger[level]('call failed', { path, requestId, traceId, code, error: loggedError(error) });
    return failureOf(error);
  }

  ended({ status, hasWaited, answeredMs }: EndedCall): void {
    const { counter, watch } = this.#connection.parts;
    const hasFailed = failures.has(status);
    this.#record?.end(this.#failure ?? (status === 'OK' ? 'ok' : 'client_gone'));
    counter?.end({
      route: this.#route,
      method: 'grpc',
      status,
      hasFailed,
      fault: this.#fault,
      beganMs: this.#beganMs,
      answeredMs,
      hasWaited,
      traceId: this.#span?.traceId,
    });
    this.#span?.set({ 'rpc.response.status_code': status });
    this.#span?.end(hasFailed ? status : undefined);
    if (this.#watched !== undefined) watch?.delete(this.#watched);
  }

  #admit(known: Principal, caller: Caller): Principal {
    // To identify the caller may take a while.
    if (this.#call.hasEnded) return known;
    const { admit, watch } = this.#connection.parts;
    const traced = this.#span === undefined ? known : { ...known, span: this.#span };
    const principal = this.#record === undefined ? traced : this.#record.identified(traced);
    this.#principal = principal;
    admit?.(known);
    if (watch !== undefined) {
      this.#watched = { caller, principal, endNow: (error) => this.#call.abort(error) };
      watch.add(this.#watched);
    }
    return principal;
  }
}

/** For a change, the notes have the stored bytes. */
function noteBytes({ notes }: AuditRecord, message: Message): void {
  if (notes.changes > 0) return;
  for (const piece of piecesOf(message)) notes.addBytes(piece.length);
}
