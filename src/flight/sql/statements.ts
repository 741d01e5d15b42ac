import { AppError } from '../../core/app-error.ts';
import type { Principal } from '../../core/principal.ts';
import { arrowFields } from '../../encoding/arrow/arrow-columns.ts';
import { schemaMessage } from '../../encoding/arrow/schema-message.ts';
import type { FrameSql, PreparedSql } from '../../query/frame-sql.ts';
import { batchData, schemaData } from '../flight-data.ts';
import type { FlightUpload } from '../flight-sql-port.ts';
import type { Call, Message } from '../method.ts';
import { emptySchema, type InfoParts } from './flight-info.ts';
import type { PreparedStatement, PreparedStatements } from './prepared-statements.ts';
import { encodeTicket, type StatementTicket } from './statement-ticket.ts';
import { noteWrite, statementName, type Transaction, type Transactions } from './transactions.ts';
import { uploadedParameters } from './uploaded-parameters.ts';

export interface StatementText {
  readonly query: string;
  readonly transactionId: Uint8Array | undefined;
}

type CallContext = Pick<Call, 'signal' | 'lane'>;

/**
 * Runs statements. What changes data runs once, when its FlightInfo is asked for or its DoPut comes: clients that send DDL as a query
 * often never fetch the result. A query runs when its rows are fetched.
 */
export class Statements {
  readonly #sql: FrameSql;
  readonly #principal: Principal;
  readonly #prepared: PreparedStatements;
  readonly #transactions: Transactions;

  constructor(sql: FrameSql, principal: Principal, prepared: PreparedStatements, transactions: Transactions) {
    this.#sql = sql;
    this.#principal = principal;
    this.#prepared = prepared;
    this.#transactions = transactions;
  }

  async prepare({ query, transactionId }: StatementText, call: CallContext): Promise<PreparedStatement> {
    const transaction = this.#transactions.find(transactionId);
    const description = await this.#sql.prepare(this.#principal, query, call);
    return this.#prepared.add({ ...description, sql: query, schema: resultSchema(description), transaction });
  }

  async start({ query, transactionId }: StatementText, call: CallContext): Promise<InfoParts> {
    const transaction = this.#transactions.find(transactionId);
    const description = await this.#sql.prepare(this.#principal, query, call);
    refuseUnbound(description);
    if (description.isUpdate) return done(await this.#update(query, undefined, transaction, call));
    return { schema: resultSchema(description), ticket: encodeTicket({ kind: 'query', sql: query }) };
  }

  async startPrepared(handle: Uint8Array, call: CallContext): Promise<InfoParts> {
    const { sql, schema, binding, transaction, ...description } = this.#prepared.get(handle);
    if (binding === undefined) refuseUnbound(description);
    if (description.isUpdate) return done(await this.#update(sql, binding?.parameters, transaction, call));
    if (binding === undefined) return { schema, ticket: encodeTicket({ kind: 'query', sql }) };
    // The values have types of their own, and `SELECT ?` is of the type of its value.
    const columns = await this.#sql.boundColumns(this.#principal, { sql, parameters: binding.parameters }, call);
    return {
      schema: schemaMessage(arrowFields(columns)),
      ticket: encodeTicket({ kind: 'bound', handle, bindingId: binding.id }),
    };
  }

  async schemaOf({ query }: StatementText, call: CallContext): Promise<Uint8Array> {
    return resultSchema(await this.#sql.prepare(this.#principal, query, call));
  }

  preparedSchema(handle: Uint8Array): Uint8Array {
    return this.#prepared.get(handle).schema;
  }

  /** Gives the number of rows that were written. */
  async update({ query, transactionId }: StatementText, call: CallContext): Promise<number> {
    return this.#update(query, undefined, this.#transactions.find(transactionId), call);
  }

  /** With the uploaded parameters, a run for each of their rows; with those bound before when the upload has none. */
  async updatePrepared(handle: Uint8Array, upload: FlightUpload, call: CallContext): Promise<number> {
    const { sql, binding, transaction, ...description } = this.#prepared.get(handle);
    const parameters = (await uploadedParameters(upload)) ?? binding?.parameters;
    if (parameters === undefined) refuseUnbound(description);
    return this.#update(sql, parameters, transaction, call);
  }

  async bind(handle: Uint8Array, upload: FlightUpload): Promise<void> {
    this.#prepared.get(handle);
    this.#prepared.bind(handle, await uploadedParameters(upload));
  }

  /** FlightData messages, the schema first. */
  async *rows(ticket: StatementTicket, call: CallContext): AsyncGenerator<Message> {
    switch (ticket.kind) {
      case 'done':
        return yield schemaData(emptySchema);
      case 'query':
        return yield* this.#query(ticket.sql, undefined, call);
      case 'bound': {
        const { sql, binding } = this.#prepared.get(ticket.handle);
        if (binding?.id === ticket.bindingId) return yield* this.#query(sql, binding.parameters, call);
        throw new AppError('not_found', 'other parameters have been bound since the ticket was given', {
          hint: 'ask for the FlightInfo again',
        });
      }
      default:
        ticket satisfies never;
    }
  }

  /** A prepared query that someone reads by its handle, without a FlightInfo. */
  preparedTicket(handle: Uint8Array): StatementTicket {
    const { sql, binding, ...description } = this.#prepared.get(handle);
    if (binding !== undefined) return { kind: 'bound', handle, bindingId: binding.id };
    refuseUnbound(description);
    return { kind: 'query', sql };
  }

  async *#query(sql: string, parameters: Uint8Array | undefined, call: CallContext): AsyncGenerator<Message> {
    await using result = await this.#sql.query(this.#principal, { sql, form: 'arrow', parameters }, call);
    yield schemaData(schemaMessage(arrowFields(result.columns)));
    for await (const { bytes } of result.rows()) yield batchData(bytes);
  }

  async #update(
    sql: string,
    parameters: Uint8Array | undefined,
    transaction: Transaction | undefined,
    call: CallContext,
  ): Promise<number> {
    const rows = await this.#sql.update(this.#principal, { sql, parameters }, call);
    noteWrite(transaction, statementName(sql));
    return rows;
  }
}

function resultSchema({ isUpdate, columns }: PreparedSql): Uint8Array {
  return isUpdate ? emptySchema : schemaMessage(arrowFields(columns));
}

function done(records: number): InfoParts {
  return { schema: emptySchema, ticket: encodeTicket({ kind: 'done' }), records };
}

function refuseUnbound({ parameters }: PreparedSql): void {
  const { length } = parameters;
  if (length === 0) return;
  throw new AppError(
    'sql_error',
    `the statement takes ${length} parameter${length === 1 ? '' : 's'}, but none are bound`,
    {
      hint: 'prepare it and bind them',
    },
  );
}
