import { GrpcError, type Message } from '@framehold/grpc';
import { Action, ActionType, Result } from '@framehold/grpc/flight';
import { didYouMean } from '../core/text/did-you-mean.ts';
import type { Call } from './call.ts';
import type { FlightAction, FlightSqlHandler } from './data/flight-sql-port.ts';

export interface FlightActions {
  readonly own: readonly FlightAction[];
  readonly sql: FlightSqlHandler;
}

/** Flight SQL comes first: its tickets can be cancelled and renewed, too. */
export async function doAction(
  { own, sql }: FlightActions,
  request: Uint8Array,
  call: Call,
): Promise<readonly Message[]> {
  const { type, body } = Action.decode(request);
  if (call.principal.notes !== undefined) call.principal.notes.object = type.slice(0, 100);
  const ofSql = sql.doAction(type, body, call);
  if (ofSql !== undefined) return ofSql;
  const action = own.find((candidate) => candidate.type === type);
  if (action === undefined) {
    const meant = didYouMean(
      type.slice(0, 100),
      [...own, ...sql.actions].map((known) => known.type),
    );
    const hint = meant || '; ListActions tells what there is';
    throw new GrpcError('UNIMPLEMENTED', `there is no action ${JSON.stringify(type.slice(0, 100))}${hint}`);
  }
  return [Result.encode({ body: await action.run(body, call) })];
}

export async function* listActions({ own, sql }: FlightActions): AsyncGenerator<Message> {
  const listed = new Set<string>();
  for (const { type, description } of [...own, ...sql.actions]) {
    if (listed.has(type)) continue;
    listed.add(type);
    yield ActionType.encode({ type, description });
  }
}
