import { flightServiceName } from '../grpc/messages/flight.ts';
import type { Service } from '../grpc/server/method.ts';
import { GrpcError } from '../grpc/wire/grpc-status.ts';
import { MessageBudget } from '../grpc/wire/message-budget.ts';
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
/** Of all messages together that have come in part, and of what uploads keep of theirs. */
const maxArrivingBytes = 1024 * 1024 * 1024;
/** An upload holds a worker, also while its client sends nothing. */
const uploadIdleTimeoutMs = 300_000;
const handshakeTimeoutMs = 10_000;
const maxHandshakeBytes = 64 * 1024;

/** Arrow Flight: frames up and down, and what Flight SQL adds to it. */
export function createFlightService(parts: FlightParts & { readonly sessions: Sessions }): Service {
  const { frames, sql, sessions } = parts;
  const budget = new MessageBudget(maxArrivingBytes);
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
      ListFlights: { kind: 'serverStreaming', budget, handle: (request, call) => listFlights(frames, request, call) },
      GetFlightInfo: { kind: 'unary', budget, handle: (request, call) => getFlightInfo(parts, request, call) },
      GetSchema: { kind: 'unary', budget, handle: (request, call) => getSchema(parts, request, call) },
      DoGet: { kind: 'serverStreaming', budget, handle: (request, call) => doGet(parts, request, call) },
      DoPut: {
        kind: 'streaming',
        maxMessageBytes: maxUploadMessageBytes,
        budget,
        idleTimeoutMs: uploadIdleTimeoutMs,
        handle: (requests, call) => doPut(parts, requests, call),
      },
      DoAction: { kind: 'serverStreaming', budget, handle: (request, call) => doAction(actions, request, call) },
      ListActions: { kind: 'serverStreaming', budget, handle: () => listActions(actions) },
      PollFlightInfo: {
        kind: 'unary',
        budget,
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
