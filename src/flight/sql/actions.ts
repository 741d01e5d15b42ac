import {
  CancelFlightInfoRequest,
  CancelFlightInfoResult,
  cancelStatus,
  FlightEndpoint,
  FlightInfo,
  RenewFlightEndpointRequest,
} from '@framehold/grpc/flight';
import type { Principal } from '../../core/callers/principal.ts';
import { AppError } from '../../core/errors/app-error.ts';
import type { Call } from '../call.ts';
import type { ActionDescription } from '../data/flight-sql-port.ts';
import { packAny, unpackAny } from './messages/any-message.ts';
import {
  BeginTransactionResult,
  CancelQueryRequest,
  CancelQueryResult,
  EndTransactionRequest,
  PreparedStatementResult,
  StatementHandle,
  StatementText,
} from './messages/sql-messages.ts';
import type { CancellableTickets } from './statements/cancellable-tickets.ts';
import { parameterSchema } from './statements/parameter-schema.ts';
import type { PreparedStatementRegistry } from './statements/prepared-statement-registry.ts';
import type { StatementRunner } from './statements/statement-runner.ts';
import type { Transactions } from './statements/transactions.ts';

export interface ActionContext {
  readonly statements: StatementRunner;
  readonly prepared: PreparedStatementRegistry;
  readonly transactions: Transactions;
  readonly cancellable: CancellableTickets;
}

/** Gives the body of the one result, or none. */
type Action = (body: Uint8Array, context: ActionContext, call: Call) => Promise<Uint8Array | undefined>;

const transactionEnd = { commit: 1, rollback: 2 } as const;

const sqlActions: Readonly<Record<string, { readonly description: string; readonly run: Action }>> = {
  CreatePreparedStatement: {
    description:
      'Prepares a statement. Takes ActionCreatePreparedStatementRequest, gives ActionCreatePreparedStatementResult.',
    run: async (body, { statements }, call) => {
      const request = StatementText.decode(bodyOf(body, 'ActionCreatePreparedStatementRequest'));
      const prepared = await statements.prepare(request, call);
      const { handle, schema, columns, parameters, parameterNames } = prepared;
      // A statement with RETURNING is executed as a query, for its rows.
      const isUpdate = prepared.isUpdate && columns.length === 0;
      const result = {
        handle,
        datasetSchema: isUpdate ? new Uint8Array(0) : schema,
        parameterSchema: parameterSchema(parameters, parameterNames),
        isUpdate,
      };
      return packAny('ActionCreatePreparedStatementResult', PreparedStatementResult.encode(result));
    },
  },
  ClosePreparedStatement: {
    description: 'Forgets a prepared statement. Takes ActionClosePreparedStatementRequest.',
    run: async (body, { prepared }, { principal }) => {
      prepared.close(principal, StatementHandle.decode(bodyOf(body, 'ActionClosePreparedStatementRequest')).handle);
      return undefined;
    },
  },
  BeginTransaction: {
    description:
      'Begins a transaction, in which each statement is final when it returns. Gives ActionBeginTransactionResult.',
    run: async (_body, { transactions }, { principal }) => {
      const transactionId = transactions.begin(principal);
      return packAny('ActionBeginTransactionResult', BeginTransactionResult.encode({ transactionId }));
    },
  },
  EndTransaction: {
    description: 'Commits, or rolls back where nothing was written. Takes ActionEndTransactionRequest.',
    run: async (body, { transactions }, { principal }) => {
      const { transactionId, action } = EndTransactionRequest.decode(bodyOf(body, 'ActionEndTransactionRequest'));
      if (action === transactionEnd.commit) transactions.end(principal, transactionId, 'commit');
      else if (action === transactionEnd.rollback) transactions.end(principal, transactionId, 'rollback');
      else throw new AppError('invalid_parameter', `action is ${action}; it is COMMIT (1) or ROLLBACK (2)`);
      return undefined;
    },
  },
  CancelQuery: {
    description:
      'Cancels a query, as clients before CancelFlightInfo do. Takes ActionCancelQueryRequest, gives ActionCancelQueryResult.',
    run: async (body, { cancellable }, { principal }) => {
      const { info } = CancelQueryRequest.decode(bodyOf(body, 'ActionCancelQueryRequest'));
      const result = cancel(info, cancellable, principal) ?? cancelStatus.notCancellable;
      return packAny('ActionCancelQueryResult', CancelQueryResult.encode({ result }));
    },
  },
};

export const actionDescriptions: readonly ActionDescription[] = Object.entries(sqlActions).map(
  ([type, { description }]) => ({ type, description }),
);

/** Undefined when the action, or the ticket that it is about, is not Flight SQL's. */
export function findAction(
  type: string,
  body: Uint8Array,
  context: ActionContext,
): ((call: Call) => ReturnType<Action>) | undefined {
  if (type === 'CancelFlightInfo') {
    const { info } = CancelFlightInfoRequest.decode(body);
    if (!hasStatement(info)) return undefined;
    return async ({ principal }) => {
      const status = cancel(info, context.cancellable, principal) ?? cancelStatus.notCancellable;
      return CancelFlightInfoResult.encode({ status });
    };
  }
  if (type === 'RenewFlightEndpoint') {
    const { endpoint } = RenewFlightEndpointRequest.decode(body);
    if (endpoint?.ticket === undefined || unpackAny(endpoint.ticket.ticket) === undefined) return undefined;
    // Our tickets do not expire.
    return async () => FlightEndpoint.encode({ ...endpoint, expirationTime: undefined });
  }
  const action = Object.hasOwn(sqlActions, type) ? sqlActions[type] : undefined;
  return action && ((call) => action.run(body, context, call));
}

/** Undefined when none of the tickets is Flight SQL's. */
function cancel(info: Uint8Array, cancellable: CancellableTickets, owner: Principal): number | undefined {
  const tickets = FlightInfo.decode(info).endpoint.map(({ ticket }) => ticket?.ticket ?? new Uint8Array(0));
  const messages = tickets.map(unpackAny);
  if (messages.every((message) => message === undefined)) return undefined;
  // A metadata ticket is the command itself, the same for everyone.
  if (messages.some((message) => message?.name !== 'TicketStatementQuery')) return cancelStatus.notCancellable;
  for (const ticket of tickets) cancellable.cancel(owner, ticket);
  return cancelStatus.cancelled;
}

function hasStatement(info: Uint8Array): boolean {
  return FlightInfo.decode(info).endpoint.some(
    ({ ticket }) => unpackAny(ticket?.ticket ?? new Uint8Array(0)) !== undefined,
  );
}

function bodyOf(body: Uint8Array, name: string): Uint8Array {
  const message = unpackAny(body);
  if (message?.name === name) return message.value;
  throw new AppError('invalid_input', `the body of the action is not a google.protobuf.Any of ${name}`);
}
