import { AppError } from '../../../core/app-error.ts';
import type { Logger } from '../../../core/logger.ts';
import type { Call, Message } from '../../../grpc/server/method.ts';
import type { CallOptions, FrameSql, PreparedSql } from '../../../query/frame-sql.ts';
import { arrowSchema } from '../../data/arrow-schema.ts';
import { batchData, schemaData } from '../../data/flight-data.ts';
import type { FlightUpload } from '../../data/flight-sql-port.ts';
import type { Sessions } from '../../request/sessions.ts';
import { emptySchema, type InfoParts } from '../messages/flight-info.ts';
import { encodeTicket, type StatementTicket } from '../messages/statement-ticket.ts';
import type { PreparedStatement, PreparedStatements } from './prepared-statements.ts';
import { readSessionStatement } from './session-statement.ts';
import { noteWrite, statementName, type Transactions } from './transactions.ts';
import { uploadedParameters } from './uploaded-parameters.ts';

export interface StatementText {
  readonly query: string;
  readonly transactionId: Uint8Array | undefined;
}

export interface StatementsOptions {
  readonly sql: FrameSql;
  readonly prepared: PreparedStatements;
  readonly transactions: Transactions;
  readonly sessions: Sessions;
  readonly logger: Logger;
}

/** Names the engine of the statement that a call brings. */
const engineHeader = 'x-framehold-engine';

const changesTheSession: PreparedSql = { isUpdate: true, columns: [], parameters: [] };

/**
 * Runs statements. What changes data runs once, when its FlightInfo is asked for or its DoPut comes: clients that send DDL as a query
 * often never fetch the result. A query runs when its rows are fetched.
 */
export class Statements {
  readonly #sql: FrameSql;
  readonly #prepared: PreparedStatements;
  readonly #transactions: Transactions;
  readonly #sessions: Sessions;
  readonly #logger: Logger;

  constructor({ sql, prepared, transactions, sessions, logger }: StatementsOptions) {
    this.#sql = sql;
    this.#prepared = prepared;
    this.#transactions = transactions;
    this.#sessions = sessions;
    this.#logger = logger;
  }

  async prepare({ query, transactionId }: StatementText, call: Call): Promise<PreparedStatement> {
    const transaction = this.#transactions.find(transactionId);
    const { description, engine } = await this.#describe(query, call);
    return this.#prepared.add({ ...description, sql: query, engine, schema: resultSchema(description), transaction });
  }

  async start({ query, transactionId }: StatementText, call: Call): Promise<InfoParts> {
    const transaction = this.#transactions.find(transactionId);
    const { description, engine } = await this.#describe(query, call);
    refuseUnbound(description);
    if (description.isUpdate) return done(await this.#update({ sql: query, engine, transaction }, undefined, call));
    return { schema: resultSchema(description), ticket: encodeTicket({ kind: 'query', sql: query, engine }) };
  }

  /** The same of a statement that came as plain text: to ask about a text must not change anything. */
  async startReading(query: string, call: Call): Promise<InfoParts> {
    const { description, engine } = await this.#describe(query, call);
    if (description.isUpdate) {
      throw new AppError('sql_forbidden', 'the statement changes something, and a command of plain text only reads', {
        hint: 'send it as Flight SQL drivers do (CommandStatementUpdate or CommandStatementQuery), or to POST /sql',
      });
    }
    refuseUnbound(description);
    return { schema: resultSchema(description), ticket: encodeTicket({ kind: 'query', sql: query, engine }) };
  }

  async startPrepared(handle: Uint8Array, call: Call): Promise<InfoParts> {
    const statement = this.#prepared.get(handle);
    const { sql, engine, schema, binding } = statement;
    if (binding === undefined) refuseUnbound(statement);
    if (statement.isUpdate) return done(await this.#update(statement, binding?.parameters, call));
    if (binding === undefined) return { schema, ticket: encodeTicket({ kind: 'query', sql, engine }) };
    // The values have types of their own, and `SELECT ?` is of the type of its value.
    const columns = await this.#sql.boundColumns(
      call.principal,
      { sql, parameters: binding.parameters },
      on(engine, call),
    );
    return {
      schema: arrowSchema(columns),
      ticket: encodeTicket({ kind: 'bound', handle, bindingId: binding.id }),
    };
  }

  async schemaOf({ query }: StatementText, call: Call): Promise<Uint8Array> {
    return resultSchema((await this.#describe(query, call)).description);
  }

  preparedSchema(handle: Uint8Array): Uint8Array {
    return this.#prepared.get(handle).schema;
  }

  /** Gives the number of rows that were written. */
  async update({ query, transactionId }: StatementText, call: Call): Promise<number> {
    const transaction = this.#transactions.find(transactionId);
    const engine = readSessionStatement(query) === undefined ? await this.#engineFor(query, call) : undefined;
    return this.#update({ sql: query, engine, transaction }, undefined, call);
  }

  /** With the uploaded parameters, a run for each of their rows; with those bound before when the upload has none. */
  async updatePrepared(handle: Uint8Array, upload: FlightUpload, call: Call): Promise<number> {
    const statement = this.#prepared.get(handle);
    const parameters = (await uploadedParameters(upload)) ?? statement.binding?.parameters;
    if (parameters === undefined) refuseUnbound(statement);
    return this.#update(statement, parameters, call);
  }

  async bind(handle: Uint8Array, upload: FlightUpload): Promise<void> {
    this.#prepared.get(handle);
    this.#prepared.bind(handle, await uploadedParameters(upload));
  }

  /** FlightData messages, the schema first. */
  rows(ticket: StatementTicket, call: Call): AsyncIterable<Message> {
    switch (ticket.kind) {
      case 'done':
        return noRows();
      case 'query':
        return this.#query(ticket, undefined, call);
      case 'bound': {
        const statement = this.#prepared.get(ticket.handle);
        const { binding } = statement;
        if (binding?.id === ticket.bindingId) return this.#query(statement, binding.parameters, call);
        throw new AppError('not_found', 'other parameters have been bound since the ticket was given', {
          hint: 'ask for the FlightInfo again',
        });
      }
      default:
        return ticket satisfies never;
    }
  }

  /** A prepared query that someone reads by its handle, without a FlightInfo. */
  preparedTicket(handle: Uint8Array): StatementTicket {
    const statement = this.#prepared.get(handle);
    const { sql, engine, binding } = statement;
    if (binding !== undefined) return { kind: 'bound', handle, bindingId: binding.id };
    refuseUnbound(statement);
    return { kind: 'query', sql, engine };
  }

  /** FlightData messages of a statement that comes without a ticket of ours. */
  rowsOf(sql: string, call: Call): AsyncIterable<Message> {
    return this.#query({ sql, engine: () => this.#engineFor(sql, call) }, undefined, call);
  }

  async *#query(
    {
      sql,
      engine,
    }: { readonly sql: string; readonly engine?: string | undefined | (() => Promise<string | undefined>) },
    parameters: Uint8Array | undefined,
    call: Call,
  ): AsyncGenerator<Message> {
    const request = { sql, form: 'arrow', parameters } as const;
    const chosen = typeof engine === 'function' ? await engine() : engine;
    await using result = await this.#sql.query(call.principal, request, on(chosen, call));
    yield schemaData(arrowSchema(result.columns));
    for await (const { bytes } of result.rows()) yield batchData(bytes);
  }

  async #describe(
    query: string,
    call: Call,
  ): Promise<{ readonly description: PreparedSql; readonly engine: string | undefined }> {
    if (readSessionStatement(query) !== undefined) return { description: changesTheSession, engine: undefined };
    const engine = await this.#engineFor(query, call);
    return { description: await this.#sql.prepare(call.principal, query, on(engine, call)), engine };
  }

  /** The engine that the call names, else its session; undefined where neither does. */
  async #engineFor(query: string, call: Call): Promise<string | undefined> {
    const { metadata, requestId } = call;
    const wanted = metadata[engineHeader]?.toString() ?? this.#sessions.of(call)?.engine;
    if (wanted === undefined) return undefined;
    const { engine, reason, isElsewhere } = await this.#sql.choose(call.principal, query, on(wanted, call));
    call.setHeader(engineHeader, engine);
    call.setHeader(`${engineHeader}-reason`, reason);
    const fields = { requestId, engine, engineReason: reason };
    if (isElsewhere) this.#logger.info('a statement runs elsewhere', fields);
    else if (wanted !== engine) this.#logger.debug('a statement stays local', fields);
    return engine;
  }

  async #update(
    { sql, engine, transaction }: Pick<PreparedStatement, 'sql' | 'engine' | 'transaction'>,
    parameters: Uint8Array | undefined,
    call: Call,
  ): Promise<number> {
    const ofSession = readSessionStatement(sql);
    if (ofSession !== undefined) {
      this.#sessions.setEngine(call, ofSession.engine);
      return 0;
    }
    const { rows, hasChanged } = await this.#sql.update(call.principal, { sql, parameters }, on(engine, call));
    if (hasChanged) noteWrite(transaction, statementName(sql));
    return rows;
  }
}

async function* noRows(): AsyncGenerator<Message> {
  yield schemaData(emptySchema);
}

function on(engine: string | undefined, { signal, lane, requestId }: Call): CallOptions {
  return { signal, lane, engine, requestId };
}

function resultSchema({ isUpdate, columns }: PreparedSql): Uint8Array {
  return isUpdate ? emptySchema : arrowSchema(columns);
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
