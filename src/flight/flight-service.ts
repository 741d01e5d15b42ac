import { GrpcError, type Service } from '@framehold/grpc';
import { flightServiceName } from '@framehold/grpc/flight';
import type { FairShares } from '../core/async/fair-shares.ts';
import type { Principal } from '../core/callers/principal.ts';
import { doAction, listActions } from './do-action.ts';
import { doGet } from './do-get.ts';
import { doPut } from './do-put.ts';
import { frameActions } from './frame-actions.ts';
import { type FlightParts, getFlightInfo, getSchema } from './get-flight-info.ts';
import { handshake } from './handshake.ts';
import { listFlights } from './list-flights.ts';
import type { Sessions } from './request/sessions.ts';
import { sessionActions } from './session-actions.ts';

/** One record batch comes as one message. */
const maxUploadMessageBytes = 256 * 1024 * 1024;
/** An upload holds a worker, also while its client sends nothing. */
const uploadIdleTimeoutMs = 300_000;
const handshakeTimeoutMs = 10_000;
const maxHandshakeBytes = 64 * 1024;

interface FlightServiceParts extends FlightParts {
  readonly sessions: Sessions;
  /** For partly received messages, and for messages that uploads keep. */
  readonly memory: FairShares;
}

/** Arrow Flight: frames up and down, and Flight SQL. */
export function createFlightService(parts: FlightServiceParts): Service<Principal> {
  const { frames, sql, sessions, memory } = parts;
  const actions = { own: [...frameActions(frames), ...sessionActions(sessions, frames)], sql };
  return {
    name: flightServiceName,
    methods: {
      Handshake: {
        kind: 'streaming',
        maxMessageBytes: maxHandshakeBytes,
        idleTimeoutMs: handshakeTimeoutMs,
        handle: (requests, call) => handshake(requests, call, sessions),
      },
      ListFlights: { kind: 'serverStreaming', memory, handle: (request, call) => listFlights(frames, request, call) },
      GetFlightInfo: { kind: 'unary', memory, handle: (request, call) => getFlightInfo(parts, request, call) },
      GetSchema: { kind: 'unary', memory, handle: (request, call) => getSchema(parts, request, call) },
      DoGet: { kind: 'serverStreaming', memory, handle: (request, call) => doGet(parts, request, call) },
      DoPut: {
        kind: 'streaming',
        maxMessageBytes: maxUploadMessageBytes,
        memory,
        idleTimeoutMs: uploadIdleTimeoutMs,
        handle: (requests, call) => doPut(parts, requests, call),
      },
      DoAction: { kind: 'serverStreaming', memory, handle: (request, call) => doAction(actions, request, call) },
      ListActions: { kind: 'serverStreaming', memory, handle: () => listActions(actions) },
      PollFlightInfo: {
        kind: 'unary',
        memory,
        handle: () => {
          throw new GrpcError('UNIMPLEMENTED', 'PollFlightInfo is not offered; use GetFlightInfo');
        },
      },
      DoExchange: {
        kind: 'streaming',
        handle: () => {
          throw new GrpcError('UNIMPLEMENTED', 'DoExchange is not offered; use DoPut and DoGet');
        },
      },
    },
  };
}
