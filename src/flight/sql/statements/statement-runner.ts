import type { Message, Messages } from '@framehold/grpc';
import { parseProducer } from '../../../core/callers/producer.ts';
import { AppError } from '../../../core/errors/app-error.ts';
import type { Logger } from '../../../core/logs/logger.ts';
import { type LiveReport, liveHeaders } from '../../../core/sql/live-tables.ts';
import type { SqlResult } from '../../../core/sql/sql.ts';
import type { AnalysedStatement, CallOptions, FrameSql, PreparedSql, SqlUpdate } from '../../../query/frame-sql.ts';
import type { Call } from '../../call.ts';
import { arrowSchema } from '../../data/arrow-schema.ts';
import { batchData, schemaData } from '../../data/flight-data.ts';
import type { FlightUpload } from '../../data/flight-sql-port.ts';
import type { Sessions } from '../../request/sessions.ts';
import { emptySchema, type InfoParts } from '../messages/flight-info.ts';
import type { StatementText } from '../messages/sql-messages.ts';
import { encodeTicket, type StatementTicket } from '../messages/statement-ticket.ts';
import type { ClientStatement, PreparedStatementRegistry } from './prepared-statement-registry.ts';
import { ReturnedRows } from './returned-rows.ts';
import { readSessionStatement } from './session-statement.ts';
import { noteWrite, statementName, type Transaction, type Transactions } from './transactions.ts';
import { uploadedParameters } from './uploaded-parameters.ts';

export interface StatementRunnerOptions {
  readonly sql: FrameSql;
  readonly prepared: PreparedStatementRegistry;
  readonly transactions: Transactions;
  readonly sessions: Sessions;
  readonly logger: Logger;
}

/** Names the engine of the statement that a call brings. */
const engineHeader = 'x-framehold-engine';

const changesTheSession: PreparedSql = { isUpdate: true, columns: [], parameters: [] };

/**
 * Runs statements. Statements that change data run once, at the call for their FlightInfo or at their DoPut: clients that send DDL as
 * a query often never fetch the result. A query runs when its rows are fetched.
 */
export class StatementRunner {
  readonly #sql: FrameSql;
  readonly #prepared: PreparedStatementRegistry;
  readonly #transactions: Transactions;
  readonly #sessions: Sessions;
  readonly #logger: Logger;
  readonly #returned = new ReturnedRows();

  constructor({ sql, prepared, transactions, sessions, logger }: StatementRunnerOptions) {
    this.#sql = sql;
    this.#prepared = prepared;
    this.#transactions = transactions;
    this.#sessions = sessions;
    this.#logger = logger;
  }

  /** The transaction that a command names, else that of the session. */
  transactionOf(call: Call, id: Uint8Array | undefined): Transaction | undefined {
    const named = this.#transactions.find(call.principal, id);
    if (named !== undefined) return named;
    const ofSession = this.#sessions.of(call)?.transaction;
    return ofSession && this.#transactions.known(call.principal, ofSession);
  }

  async prepare({ query: sql, transactionId }: StatementText, call: Call): Promise<ClientStatement> {
    const transaction = this.transactionOf(call, transactionId);
    const { statement, description } = await this.#describe(sql, call);
    const { principal: owner } = call;
    return this.#prepared.add({
      ...description,
      owner,
      sql,
      statement,
      schema: await resultSchema(description, call),
      transaction,
    });
  }

  async start({ query: sql, transactionId }: StatementText, call: Call): Promise<InfoParts> {
    const transaction = this.transactionOf(call, transactionId);
    const { statement, description } = await this.#describe(sql, call);
    refuseUnbound(description);
    if (description.isUpdate) return await this.#done({ sql, statement, transaction }, undefined, call);
    return { schema: await resultSchema(description, call), ticket: encodeTicket(queryTicket({ sql, statement })) };
  }

  /** The same for a statement in plain text: a request for its FlightInfo must not change anything. */
  async startReading(sql: string, call: Call): Promise<InfoParts> {
    const { statement, description } = await this.#describe(sql, call);
    if (description.isUpdate) {
      throw new AppError('sql_forbidden', 'the statement changes something, and a command of plain text only reads', {
        hint: 'send it as Flight SQL drivers do (CommandStatementUpdate or CommandStatementQuery), or to POST /sql',
      });
    }
    refuseUnbound(description);
    return { schema: await resultSchema(description, call), ticket: encodeTicket(queryTicket({ sql, statement })) };
  }

  async startPrepared(handle: Uint8Array, call: Call): Promise<InfoParts> {
    const prepared = this.#prepared.get(call.principal, handle);
    const { statement, schema, binding } = prepared;
    if (binding === undefined) refuseUnbound(prepared);
    if (prepared.isUpdate || statement === undefined) return await this.#done(prepared, binding?.parameters, call);
    if (binding === undefined) return { schema, ticket: encodeTicket(queryTicket(prepared)) };
    const { id: bindingId, parameters } = binding;
    // The values have types of their own, and `SELECT ?` is of the type of its value.
    const columns = await this.#sql.boundColumns(call.principal, { statement, parameters }, this.#optionsOf(call));
    return {
      schema: await arrowSchema(columns, call.lane),
      ticket: encodeTicket({ kind: 'bound', handle, bindingId }),
    };
  }

  async schemaOf({ query }: StatementText, call: Call): Promise<Uint8Array> {
    return await resultSchema((await this.#describe(query, call)).description, call);
  }

  preparedSchema(handle: Uint8Array, call: Call): Uint8Array {
    return this.#prepared.get(call.principal, handle).schema;
  }

  /** Gives the number of rows that were written. */
  async update({ query: sql, transactionId }: StatementText, call: Call): Promise<number> {
    const transaction = this.transactionOf(call, transactionId);
    return (await this.#update({ sql, statement: await this.#analyze(sql, call), transaction }, undefined, call)).rows;
  }

  /** With the uploaded parameters, a run for each of their rows; with those bound before if the upload has none. */
  async updatePrepared(handle: Uint8Array, upload: FlightUpload, call: Call): Promise<number> {
    const statement = this.#prepared.get(call.principal, handle);
    const parameters = (await uploadedParameters(upload)) ?? statement.binding?.parameters;
    if (parameters === undefined) refuseUnbound(statement);
    return (await this.#update(statement, parameters, call)).rows;
  }

  async bind(handle: Uint8Array, upload: FlightUpload, call: Call): Promise<void> {
    this.#prepared.get(call.principal, handle);
    this.#prepared.bind(call.principal, handle, await uploadedParameters(upload));
  }

  /** FlightData messages, the schema first. */
  async rows(ticket: StatementTicket, call: Call): Promise<Messages> {
    switch (ticket.kind) {
      case 'done':
        return [schemaData(emptySchema)];
      case 'returned':
        return this.#returned.get(call.principal, ticket.rows);
      case 'query':
        return this.#query(() => this.#sql.analyze(call.principal, ticket, this.#optionsOf(call)), undefined, call);
      case 'bound': {
        const { sql, statement, binding } = this.#prepared.get(call.principal, ticket.handle);
        const analyse = async () =>
          statement ?? (await this.#sql.analyze(call.principal, { sql }, this.#optionsOf(call)));
        if (binding?.id === ticket.bindingId) return this.#query(analyse, binding.parameters, call);
        throw new AppError('not_found', 'other parameters have been bound since the ticket was given', {
          hint: 'ask for the FlightInfo again',
        });
      }
      default:
        return ticket satisfies never;
    }
  }

  /** A prepared query that someone reads by its handle, without a FlightInfo. */
  preparedTicket(handle: Uint8Array, call: Call): StatementTicket {
    const prepared = this.#prepared.get(call.principal, handle);
    const { binding } = prepared;
    if (binding !== undefined) return { kind: 'bound', handle, bindingId: binding.id };
    refuseUnbound(prepared);
    return queryTicket(prepared);
  }

  /** FlightData messages of a statement without a ticket of ours. */
  rowsOf(sql: string, call: Call): Promise<Messages> {
    return this.#query(() => this.#analyzeOnChosen(sql, call), undefined, call);
  }

  async #query(
    analyse: () => Promise<AnalysedStatement>,
    parameters: Uint8Array | undefined,
    call: Call,
  ): Promise<Messages> {
    const request = { statement: await analyse(), form: 'arrow', parameters } as const;
    const result = await this.#sql.query(call.principal, request, this.#optionsOf(call));
    const { columns, whole } = result;
    if (whole === undefined) return streamed(result, call.lane);
    await using _ = result;
    return [schemaData(await arrowSchema(columns, call.lane)), ...whole.map(({ bytes }) => batchData(bytes))];
  }

  async #describe(
    sql: string,
    call: Call,
  ): Promise<Pick<ClientStatement, 'statement'> & { readonly description: PreparedSql }> {
    const statement = await this.#analyze(sql, call);
    if (statement === undefined) return { statement, description: changesTheSession };
    return { statement, description: await this.#sql.prepare(call.principal, statement, this.#optionsOf(call)) };
  }

  /** Undefined for a statement about the session, which no engine sees. */
  async #analyze(sql: string, call: Call): Promise<AnalysedStatement | undefined> {
    return readSessionStatement(sql) === undefined ? await this.#analyzeOnChosen(sql, call) : undefined;
  }

  /** With the settings of the session, on the engine that the call names, else the session. The answer names the engine if one of them did. */
  async #analyzeOnChosen(sql: string, call: Call): Promise<AnalysedStatement> {
    const { principal, metadata, requestId } = call;
    const session = this.#sessions.of(call);
    const wanted = metadata[engineHeader]?.toString() ?? session?.engine;
    const text = { sql, engine: wanted, settings: session?.settings };
    const choice = await this.#sql.choose(principal, text, this.#optionsOf(call));
    const { engine, reason, isElsewhere } = choice;
    if (wanted !== undefined) {
      call.setHeader(engineHeader, engine);
      call.setHeader(`${engineHeader}-reason`, reason);
      const fields = { requestId, engine, engineReason: reason };
      if (isElsewhere) this.#logger.info('a statement runs elsewhere', fields);
      else if (wanted !== engine) this.#logger.debug('a statement stays local', fields);
    }
    return await this.#sql.analyze(principal, choice, this.#optionsOf(call));
  }

  #optionsOf(call: Call): CallOptions {
    const { signal, lane, requestId } = call;
    const onLive = (report: LiveReport): void => {
      for (const [name, value] of liveHeaders(report)) call.setHeader(name, value);
    };
    return { signal, lane, requestId, onLive, temporary: this.#sessions.temporaryOf(call) };
  }

  /** It has run: the rows of RETURNING are held until they are fetched. */
  async #done(
    statement: Pick<ClientStatement, 'sql' | 'statement' | 'transaction'>,
    parameters: Uint8Array | undefined,
    call: Call,
  ): Promise<InfoParts> {
    const { rows: records, returned } = await this.#update(statement, parameters, call);
    if (returned === undefined) return { schema: emptySchema, ticket: encodeTicket({ kind: 'done' }), records };
    const rows = await this.#returned.keep(call, returned);
    const ticket = encodeTicket({ kind: 'returned', rows });
    return { schema: await arrowSchema(returned.columns, call.lane), ticket, records: returned.totalRows };
  }

  async #update(
    { sql, statement, transaction }: Pick<ClientStatement, 'sql' | 'statement' | 'transaction'>,
    parameters: Uint8Array | undefined,
    call: Call,
  ): Promise<Pick<SqlUpdate, 'rows' | 'returned'>> {
    if (statement === undefined) {
      await this.#changeSession(sql, call);
      return { rows: 0 };
    }
    const { principal } = call;
    const producer = parseProducer(call.metadata);
    const request = { statement, parameters, producer };
    const done = await this.#sql.update(principal, request, this.#optionsOf(call));
    // A prepared statement may outlive the transaction that it was prepared in.
    const isOpen = transaction !== undefined && this.#transactions.isOpen(principal, transaction);
    if (done.hasChanged) noteWrite(isOpen ? transaction : this.transactionOf(call, undefined), statementName(sql));
    return done;
  }

  async #changeSession(sql: string, call: Call): Promise<void> {
    const statement = readSessionStatement(sql);
    if (statement === undefined) throw new Error('a statement about the session is one no more');
    if (statement.kind === 'set') await this.#sessions.setOne(call, statement.name, statement.value);
    else if (statement.kind === 'begin') this.#begin(call);
    else this.#end(call, statement.kind);
  }

  #begin(call: Call): void {
    this.#sessions.transactionId(call);
    if (this.transactionOf(call, undefined) !== undefined) {
      throw new AppError('sql_error', 'a transaction is open in this session already', { hint: 'COMMIT it first' });
    }
    this.#sessions.setTransaction(call, this.#transactions.begin(call.principal));
  }

  #end(call: Call, outcome: 'commit' | 'rollback'): void {
    this.#sessions.transactionId(call);
    const transaction = this.#sessions.of(call)?.transaction;
    if (transaction === undefined) {
      throw new AppError(
        'sql_error',
        `no transaction is open in this session that ${outcome.toUpperCase()} could end`,
        {
          hint: 'without BEGIN each statement is final by itself',
        },
      );
    }
    this.#transactions.end(call.principal, transaction, outcome);
    this.#sessions.setTransaction(call, undefined);
  }
}

async function* streamed(opened: SqlResult, lane: string): AsyncGenerator<Message> {
  await using result = opened;
  yield schemaData(await arrowSchema(result.columns, lane));
  for await (const { bytes } of result.rows()) yield batchData(bytes);
}

function queryTicket({ sql, statement }: Pick<ClientStatement, 'sql' | 'statement'>): StatementTicket {
  return { kind: 'query', sql, engine: statement?.engine, settings: statement?.settings };
}

async function resultSchema({ isUpdate, columns }: PreparedSql, { lane }: Call): Promise<Uint8Array> {
  return isUpdate && columns.length === 0 ? emptySchema : await arrowSchema(columns, lane);
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
