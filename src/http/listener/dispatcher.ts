import type { IncomingMessage, ServerResponse } from 'node:http';
import { sharedTurn } from '@framehold/async';
import type { DownloadTickets } from '../../auth/download-tickets.ts';
import { assertMay } from '../../auth/rights.ts';
import type { FairShares } from '../../core/async/fair-shares.ts';
import { networkOf } from '../../core/callers/address-counts.ts';
import type { Audit } from '../../core/callers/audit.ts';
import type { CredentialWatch } from '../../core/callers/credential-watch.ts';
import { type Identify, laneOfUnknown, type Principal } from '../../core/callers/principal.ts';
import {
  AppError,
  type ErrorCode,
  isFault,
  loggedError,
  serverStopping,
  toAppError,
} from '../../core/errors/app-error.ts';
import type { Logger } from '../../core/logs/logger.ts';
import type { BeginSpan, Span } from '../../core/logs/span.ts';
import { requestIdOf } from '../../core/names/request-id.ts';
import type { EventLoopWatch } from '../../telemetry/event-loop-watch.ts';
import type { EndedRequest, RequestCounter } from '../../telemetry/request-counter.ts';
import type { ServerTls } from '../../tls/server-tls.ts';
import { httpStatus, sendError } from '../exchange/error-response.ts';
import { Exchange } from '../exchange/exchange.ts';
import { nothingAt } from '../exchange/nothing-at.ts';
import type { Operation } from '../exchange/operation.ts';
import { ClientGone } from '../exchange/response-writer.ts';
import type { HttpMethod, Route } from '../exchange/route.ts';
import { watchShortChunks } from '../exchange/short-chunks.ts';
import { boundRequest, splitTicket } from '../exchange/ticket-target.ts';
import type { Connections } from './connections.ts';
import { allowOrigin, type CorsPolicy } from './cors.ts';
import { HostCheck } from './host-check.ts';
import { RouteTable } from './route-table.ts';
import { cutUnreadBody, dropBody, hasBody } from './unread-body.ts';

/** Settings that may change while it listens. */
export interface HttpListenerSettings {
  /** Undefined: no site's pages may call. */
  readonly cors: CorsPolicy | undefined;
  /** Names that it answers to, beside addresses and localhost. */
  readonly hosts: readonly string[] | undefined;
}

export interface HttpListenerOptions extends HttpListenerSettings {
  readonly host: string;
  readonly port: number;
  readonly routes: readonly Route[];
  readonly identify: Identify;
  /** Throws where the caller has sent too many. */
  readonly admit?: ((principal: Principal) => void) | undefined;
  /** Undefined: there are none. */
  readonly tickets?: DownloadTickets | undefined;
  /** Undefined: without TLS. */
  readonly tls?: ServerTls | undefined;
  /** Whether callers must authenticate. */
  readonly isClosed: boolean;
  /** Undefined: there is none. */
  readonly audit: Audit | undefined;
  /** Undefined where there are no credentials that could end. */
  readonly watch?: CredentialWatch | undefined;
  /** Counts its requests. Undefined: not counted. */
  readonly counter?: RequestCounter | undefined;
  /** Watches how long each turn of the event loop takes. Undefined: not watched. */
  readonly eventLoop?: EventLoopWatch | undefined;
  /** Undefined: none is traced. */
  readonly beginSpan?: BeginSpan | undefined;
  readonly maxConnections: number;
  /** Places for running requests. */
  readonly requests: FairShares;
  /** For bodies that are held whole. */
  readonly memory: FairShares;
  readonly maxBodyBytes: number;
  readonly headerTimeoutMs: number;
  readonly stallTimeoutMs: number;
  readonly idleTimeoutMs: number;
  readonly logger: Logger;
}

export const maxHeaders = 100;
/** Of a connection, whose answers are not sent yet. */
const mostPipelined = 100;
/** Clients may send any word. */
const countedMethods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);
/** The status, in metrics, of a request whose client left before the answer: no answer has it. */
const clientGone = '499';

/** Finds the route, counts running requests, and turns every error into an answer. */
export class Dispatcher {
  readonly #routes: RouteTable;
  readonly #options: HttpListenerOptions;
  readonly #connections: Connections;
  #settings: HttpListenerSettings;
  #hosts: HostCheck;
  #isStopAnnounced = false;
  #draining = false;
  #underWay = 0;
  #idle: (() => void) | undefined;

  #onEnd(exchange: Exchange): void {
    if (!exchange.isUncounted) this.#end();
  }

  #end(): void {
    if (--this.#underWay === 0) this.#idle?.();
  }

  /** A request that only waits. */
  #uncount(exchange: Exchange): void {
    if (exchange.isUncounted || exchange.hasEnded) return;
    this.#onEnd(exchange);
    exchange.place?.[Symbol.dispose]();
    exchange.isUncounted = true;
  }

  constructor(options: HttpListenerOptions, connections: Connections) {
    this.#options = options;
    this.#connections = connections;
    this.#routes = new RouteTable(options.routes);
    this.#settings = options;
    this.#hosts = new HostCheck(options.hosts ?? []);
  }

  applySettings(settings: HttpListenerSettings): void {
    this.#settings = settings;
    this.#hosts = new HostCheck(settings.hosts ?? []);
  }

  /** At once, or in one of the next turns of the event loop where those of this one are many. */
  dispatch(request: IncomingMessage, response: ServerResponse): void {
    const { socket, headers } = request;
    // The parser goes on with what it has of a connection that was cut.
    if (socket.destroyed) return;
    if (this.#connections.add(request, response) > mostPipelined) {
      this.#options.logger.debug('the connection is cut', { reason: `more than ${mostPipelined} requests wait in it` });
      socket.destroy();
      return;
    }
    watchShortChunks(request);
    const { remoteAddress = '', remotePort } = socket;
    const turn = sharedTurn(() => laneOfUnknown(remoteAddress, headers.authorization, String(remotePort)));
    // One that came before a stop is served.
    const isServed = !this.#draining;
    if (turn === undefined) this.#begin(request, response, isServed);
    else {
      this.#underWay++;
      void turn.then(() => {
        if (!socket.destroyed) this.#begin(request, response, isServed);
        this.#end();
      });
    }
  }

  #begin(request: IncomingMessage, response: ServerResponse, isServed: boolean): void {
    const { asked, authority } = splitAuthority(request.url ?? '/');
    const requestId = requestIdOf(request.headers['x-request-id']);
    const queryAt = asked.indexOf('?');
    const path = queryAt < 0 ? asked : asked.slice(0, queryAt);
    const { route, segments } = this.#routes.find(path);
    const { target, ticket } = route?.takesTicket === true ? splitTicket(asked) : { target: asked, ticket: undefined };
    const { logger, memory, eventLoop, isClosed: isPrivate } = this.#options;
    const isLast = (): boolean => this.#isStopAnnounced && this.#connections.mayEndWith(request);
    // No spread: it takes some microseconds.
    const exchange = new Exchange({
      request,
      response,
      target,
      segments,
      route: route?.path,
      requestId,
      logger,
      memory,
      eventLoop,
      isLast,
      isPrivate,
    });
    if (this.#settings.cors !== undefined) allowOrigin(this.#settings.cors, exchange);
    this.#underWay++;
    const { audit, watch, counter } = this.#options;
    const beganMs = counter?.begin() ?? 0;
    eventLoop?.goesOn(exchange);
    exchange.span = this.#beginSpan(route, exchange);
    if (route?.follows === true) exchange.onUncount = () => this.#uncount(exchange);
    const ended = audit === undefined ? undefined : this.#audited(audit, route, exchange);
    exchange.awaitsBody = route?.takesBody === true && hasBody(request);
    response.once('close', () => {
      exchange.hasEnded = true;
      if (isPrivate) watch?.delete(exchange);
      exchange.place?.[Symbol.dispose]();
      this.#onEnd(exchange);
      counter?.end(endOf(exchange, route, beganMs));
      endSpan(exchange);
      ended?.();
    });
    cutUnreadBody(request, response, { isRead: route?.takesBody === true && isServed });
    if (!isServed) {
      void this.#refuse(exchange, route, request);
      return;
    }
    try {
      checkHead(request, exchange);
      this.#hosts.check(authority ?? request.headers.host);
      this.#checkBody(exchange);
      if (request.method === 'OPTIONS') {
        answerOptions(route, exchange);
        return;
      }
      if (ticket !== undefined) this.#redeem(ticket, exchange);
      const outcome = this.#serve(route, exchange);
      outcome?.catch((error: unknown) => this.#fail(exchange, route, error));
    } catch (error) {
      this.#fail(exchange, route, error);
    }
  }

  #beginSpan(route: Route | undefined, { method, requestHeaders, requestId }: Exchange): Span | undefined {
    const { beginSpan } = this.#options;
    // Probes come every second, and their traces are useless.
    if (beginSpan === undefined || route?.always === true) return undefined;
    const counted = countedMethods.has(method) ? method : 'HTTP';
    return beginSpan(route === undefined ? counted : `${counted} ${route.path}`, requestHeaders.traceparent, {
      'http.request.method': counted === 'HTTP' ? '_OTHER' : method,
      'http.route': route?.path,
      'framehold.request_id': requestId,
    });
  }

  #redeem(ticket: string, exchange: Exchange): void {
    // The address of the page that a link leads to has the ticket in it.
    exchange.headers.push('referrer-policy', 'no-referrer');
    exchange.forbidStoring();
    exchange.ticketHolder = this.#options.tickets?.redeem(ticket, boundRequest(exchange.method, exchange.target));
  }

  /** Returns the function to call at the end of the answer, if the audit gets a line. */
  #audited(audit: Audit, route: Route | undefined, exchange: Exchange): (() => void) | undefined {
    const { method, segments, requestId, requestHeaders } = exchange;
    const access = accessOf(route, method);
    if (method === 'OPTIONS' || access === 'open' || this.#isStranger(access, exchange)) return undefined;
    const record = audit.begin({
      door: 'http',
      method,
      route: route?.path,
      action: access === 'known' ? 'seeServer' : access,
      object: segments.length === 0 ? undefined : segments.join('/').slice(0, 200),
      isChange: access !== 'runStatements' && method !== 'GET' && method !== 'HEAD',
      requestId,
      givenId: requestHeaders['x-request-id'],
      address: exchange.caller.address,
    });
    exchange.record = record;
    exchange.onUnrecorded = (error) => this.#fail(exchange, route, error);
    return () => record.end(exchange.outcome, exchange.status);
  }

  #isStranger(access: Operation['access'] | undefined, { caller }: Exchange): boolean {
    if (access !== 'known' || !this.#options.isClosed) return false;
    return caller.headers.authorization === undefined && caller.certificate === undefined;
  }

  /** Identifies the caller and checks its right before anything is looked up. At once where the caller is known. */
  #serve(route: Route | undefined, exchange: Exchange): void | Promise<void> {
    const access = accessOf(route, exchange.method);
    if (access === 'open' || this.#isStranger(access, exchange)) {
      const { address } = exchange.caller;
      return this.#enter(route, exchange, networkOf(address), () => this.#checkRoute(route, exchange).handle(exchange));
    }
    const principal = this.#options.identify(exchange.caller);
    const serve = (identified: Principal): void | Promise<void> => {
      // Identification may take a while. A request that begins after its end would be counted for ever.
      if (exchange.hasEnded) throw new ClientGone('the client went away before it was identified');
      exchange.principal = identified;
      return this.#enter(route, exchange, exchange.lane, () => {
        this.#options.admit?.(identified);
        this.#options.watch?.add(exchange);
        const found = this.#checkRoute(route, exchange);
        if (access !== undefined && access !== 'known') assertMay(identified, access);
        return found.handle(exchange);
      });
    };
    return principal instanceof Promise ? principal.then(serve) : serve(principal);
  }

  /** After its body has arrived: the end of a connection takes the answer from a client that still sends. */
  async #refuse(exchange: Exchange, route: Route | undefined, request: IncomingMessage): Promise<void> {
    exchange.headers.push('connection', 'close');
    // A client that expects a `100 Continue` sends nothing more.
    if (request.headers.expect === undefined) await dropBody(request);
    this.#fail(exchange, route, serverStopping());
  }

  announceStop(): void {
    this.#isStopAnnounced = true;
  }

  /** New requests are refused from now on; resolves when none is running. */
  drain(): Promise<void> {
    this.#isStopAnnounced = true;
    this.#draining = true;
    return new Promise((resolve) => {
      if (this.#underWay === 0) resolve();
      else this.#idle = resolve;
    });
  }

  /** With a place among the running requests: at once if one is free. */
  #enter(
    route: Route | undefined,
    exchange: Exchange,
    lane: string,
    serve: () => void | Promise<void>,
  ): void | Promise<void> {
    if (route?.always === true) return serve();
    exchange.onRevoked = (error) => this.#revoke(exchange, route, error);
    const place = this.#options.requests.open({ lane, revoke: exchange.onRevoked });
    exchange.place = place;
    // Only a request whose body is on its way can be ended without harm.
    if (!exchange.awaitsBody) place.settle();
    if (!place.tryTake(1)) {
      return place.take(1, { signal: exchange.signal, onlyBelowShare: true }).then(serve);
    }
    const turn = sharedTurn(() => lane);
    return turn === undefined ? serve() : turn.then(serve);
  }

  /** Other requests need its place. */
  #revoke(exchange: Exchange, route: Route | undefined, error: AppError): void {
    this.#fail(exchange, route, error);
    exchange.isRevoked = true;
    exchange.abort(error);
  }

  #checkBody({ requestHeaders }: Exchange): void {
    const bytes = Number(requestHeaders['content-length'] ?? 0);
    if (bytes <= this.#options.maxBodyBytes) return;
    throw new AppError('too_large', `a body of ${bytes} bytes is more than the ${this.#options.maxBodyBytes} allowed`);
  }

  #checkRoute(route: Route | undefined, exchange: Exchange): Route {
    const { method, headers, target } = exchange;
    if (route === undefined) {
      throw nothingAt(target.split('?', 1)[0] ?? '', this.#routes.paths);
    }
    if (!(route.methods as readonly string[]).includes(method)) {
      headers.push('allow', allowedMethods(route));
      throw new AppError('method_not_allowed', `${method} is not offered at ${route.path}`, {
        hint: `use ${route.methods.join(' or ')}`,
      });
    }
    exchange.isRouted = true;
    return route;
  }

  #fail(exchange: Exchange, route: Route | undefined, thrown: unknown): void {
    const { requestId, logger, target } = exchange;
    // It has its answer.
    if (exchange.isRevoked && exchange.hasBegun) return;
    if (thrown instanceof ClientGone || exchange.isClosed) {
      logger.debug('the client left', { requestId, reason: thrown instanceof Error ? thrown.message : undefined });
      exchange.destroy();
      return;
    }
    const error = toAppError(thrown);
    exchange.failure = error.code;
    const level = logLevelOf(error.code);
    const engine = exchange.engine?.engine;
    const ran = engine !== undefined && { engine, engineReason: exchange.engine?.reason };
    const traceId = exchange.traceId;
    logger[level]('request failed', { requestId, traceId, code: error.code, ...ran, error: loggedError(error) });
    sendError(exchange, error, exchange.asked ?? queryOf(route, target), route?.errorBody);
  }
}

function endSpan({ span, status, failure, answeredMs }: Exchange): void {
  if (span === undefined) return;
  if (answeredMs !== undefined) span.set({ 'http.response.status_code': status });
  // A fault of the caller is no failure of the server.
  span.end(status >= 500 ? (failure ?? String(status)) : undefined);
}

/** Of a request that was not let in only the method and the status: otherwise strangers would choose the labels of metrics. */
function endOf(exchange: Exchange, route: Route | undefined, beganMs: number): EndedRequest {
  const { method, status, failure, answeredMs, isRouted, isUncounted } = exchange;
  const path = route?.isOfConsole === true ? '/console' : (route?.path ?? '');
  return {
    route: isRouted ? path : '',
    method: countedMethods.has(method) ? method : '_OTHER',
    status: answeredMs === undefined ? clientGone : String(status),
    hasFailed: status >= 500,
    fault: failure !== undefined && isFault(failure) ? failure : undefined,
    beganMs,
    answeredMs,
    hasWaited: isUncounted,
    traceId: exchange.span?.traceId,
  };
}

/** Undefined without such a method: only identified callers learn that. */
function accessOf(route: Route | undefined, method: string): Operation['access'] | undefined {
  return route?.operations[(method === 'HEAD' ? 'GET' : method) as HttpMethod]?.access;
}

function checkHead(request: IncomingMessage, { headers }: Exchange): void {
  // Node takes a line without a version for HTTP/0.9, and the lines behind it for more requests; proxies do not.
  if (request.httpVersionMajor !== 1) {
    headers.push('connection', 'close');
    throw new AppError('invalid_input', `the request is in HTTP/${request.httpVersion}`, {
      hint: 'use HTTP/1.1, or HTTP/1.0',
    });
  }
  if (request.rawHeaders.length > 2 * maxHeaders) {
    headers.push('connection', 'close');
    throw new AppError('request_too_long', `there are more than ${maxHeaders} headers`, { hint: 'send fewer' });
  }
  const coding = request.headers['transfer-encoding'];
  if (coding !== undefined && !/^chunked[, \t]*$/i.test(coding)) {
    headers.push('connection', 'close');
    throw new AppError('invalid_input', `the Transfer-Encoding ${JSON.stringify(coding.slice(0, 100))} is not known`, {
      hint: 'send the body with its Content-Length, or chunked',
    });
  }
  if (request.headers.host === undefined && request.httpVersion === '1.1') {
    headers.push('connection', 'close');
    throw new AppError('invalid_input', 'the request has no Host header, which HTTP/1.1 asks for');
  }
  // Node gives the first; a proxy may have used the last.
  if (request.rawHeaders.filter((text, index) => index % 2 === 0 && isHost(text)).length > 1) {
    headers.push('connection', 'close');
    throw new AppError('invalid_input', 'the request has more than one Host header', { hint: 'send one' });
  }
}

function isHost(name: string): boolean {
  return name.length === 4 && name.toLowerCase() === 'host';
}

/** Clients' faults, and refusals under load, may come by the thousand. */
function logLevelOf(code: ErrorCode): 'debug' | 'warn' | 'error' {
  if (code === 'internal') return 'error';
  return httpStatus[code] < 500 || code === 'overloaded' || code === 'quota_exceeded' ? 'debug' : 'warn';
}

function queryOf(route: Route | undefined, target: string): string | undefined {
  try {
    return route?.askedFor?.(target);
  } catch {
    return undefined;
  }
}

/** A proxy, or a client that takes us for one, names the whole URL; its host counts instead of the header, says RFC 9112. */
function splitAuthority(target: string): { readonly asked: string; readonly authority: string | undefined } {
  const [whole, authority] = /^https?:\/\/([^/?]*)/i.exec(target) ?? [''];
  const rest = target.slice(whole.length);
  return { asked: authority === undefined || rest.startsWith('/') ? rest : `/${rest}`, authority };
}

function allowedMethods(route: Route): string {
  return [...route.methods, 'OPTIONS'].join(', ');
}

function answerOptions(route: Route | undefined, exchange: Exchange): void {
  exchange.headers.push('allow', route === undefined ? 'OPTIONS' : allowedMethods(route));
  exchange.send(204);
}
