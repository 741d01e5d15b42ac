import { schemaMessage } from '@framehold/arrow-ipc';
import { GrpcError, type Message, type Messages } from '@framehold/grpc';
import { PutResult, Result } from '@framehold/grpc/flight';
import type { Principal } from '../../core/callers/principal.ts';
import { parseProducer } from '../../core/callers/producer.ts';
import type { Logger } from '../../core/logs/logger.ts';
import type { Frames } from '../../frames/frames.ts';
import type { FrameSql } from '../../query/frame-sql.ts';
import type { Call } from '../call.ts';
import type { FlightSqlHandler, FlightUpload } from '../data/flight-sql-port.ts';
import type { Sessions } from '../request/sessions.ts';
import { actionDescriptions, findAction } from './actions.ts';
import { type SqlMessage, unpackAny } from './messages/any-message.ts';
import { flightInfo, type InfoParts } from './messages/flight-info.ts';
import {
  CommandStatementIngest,
  DoPutPreparedStatementResult,
  StatementHandle,
  StatementText,
  updateResult,
} from './messages/sql-messages.ts';
import { decodeTicket, type StatementTicket } from './messages/statement-ticket.ts';
import { type MetadataTable, metadataTable } from './metadata/metadata.ts';
import { metadataStream } from './metadata/metadata-stream.ts';
import { sqlInfos } from './metadata/sql-info.ts';
import { CancellableTickets } from './statements/cancellable-tickets.ts';
import { ingest } from './statements/ingest.ts';
import { PreparedStatementRegistry, statementIdleMs } from './statements/prepared-statement-registry.ts';
import { StatementRunner } from './statements/statement-runner.ts';
import { noteWrite, Transactions } from './statements/transactions.ts';

export interface FlightSqlOptions {
  readonly sql: FrameSql;
  readonly frames: Frames;
  /** The server's own. */
  readonly version: string;
  readonly maxConnections: number;
  readonly sessions: Sessions;
  /** Called when a client asks for metadata, as drivers do when they connect: statements will follow. */
  readonly expectStatements: (principal: Principal) => void;
  readonly logger: Logger;
}

/** Arrow Flight SQL over frames and the operator's database. */
export function createFlightSql(options: FlightSqlOptions): FlightSqlHandler {
  const { sql, frames, version, maxConnections, sessions, expectStatements, logger } = options;
  const prepared = new PreparedStatementRegistry();
  const transactions = new Transactions();
  const cancellable = new CancellableTickets();
  const statements = new StatementRunner({ sql, prepared, transactions, sessions, logger });
  const infos = sqlInfos({ version, maxConnections, statementIdleMs });
  const tableOf = (command: SqlMessage, { principal }: Call): MetadataTable | undefined =>
    metadataTable(command, { sql, frames, principal, sqlInfos: infos });

  const infoOf = async (command: SqlMessage, packed: Uint8Array, call: Call): Promise<InfoParts> => {
    const table = tableOf(command, call);
    if (table !== undefined) {
      expectStatements(call.principal);
      return { schema: schemaMessage(table.fields), ticket: packed };
    }
    switch (command.name) {
      case 'CommandStatementQuery':
        return statements.start(StatementText.decode(command.value), call);
      case 'CommandPreparedStatementQuery':
        return statements.startPrepared(StatementHandle.decode(command.value).handle, call);
      default:
        throw unsupported(command, 'GetFlightInfo');
    }
  };
  const schemaOf = async (command: SqlMessage, call: Call): Promise<Uint8Array> => {
    const table = tableOf(command, call);
    if (table !== undefined) return schemaMessage(table.fields);
    switch (command.name) {
      case 'CommandStatementQuery':
        return statements.schemaOf(StatementText.decode(command.value), call);
      case 'CommandPreparedStatementQuery':
        return statements.preparedSchema(StatementHandle.decode(command.value).handle, call);
      default:
        throw unsupported(command, 'GetSchema');
    }
  };
  /** Commands serve as tickets too, which spares a client the FlightInfo. */
  const rowsOf = ({ name, value }: SqlMessage, caller: Call): ((call: Call) => Promise<Messages>) => {
    const of = (ticket: StatementTicket) => (call: Call) => statements.rows(ticket, call);
    switch (name) {
      case 'TicketStatementQuery':
        return of(decodeTicket(value));
      case 'CommandStatementQuery':
        return (call) => statements.rowsOf(StatementText.decode(value).query, call);
      case 'CommandPreparedStatementQuery':
        return of(statements.preparedTicket(StatementHandle.decode(value).handle, caller));
      default:
        throw unsupported({ name }, 'DoGet');
    }
  };
  const get = (message: SqlMessage, packed: Uint8Array, call: Call): AsyncIterable<Message> | Promise<Messages> => {
    const table = tableOf(message, call);
    if (table !== undefined) return metadataStream(table.fields, table.rows(call), call.lane);
    const rows = rowsOf(message, call);
    return cancellable.run(call.principal, packed, call.signal, (signal) => rows({ ...call, signal }));
  };
  const put = async ({ name, value }: SqlMessage, upload: FlightUpload, call: Call): Promise<Uint8Array> => {
    switch (name) {
      case 'CommandStatementUpdate':
        return updateResult(await statements.update(StatementText.decode(value), call));
      case 'CommandPreparedStatementUpdate':
        return updateResult(await statements.updatePrepared(StatementHandle.decode(value).handle, upload, call));
      case 'CommandPreparedStatementQuery': {
        const { handle } = StatementHandle.decode(value);
        await statements.bind(handle, upload, call);
        return DoPutPreparedStatementResult.encode({ handle });
      }
      case 'CommandStatementIngest': {
        const command = CommandStatementIngest.decode(value);
        const transaction = statements.transactionOf(call, command.transactionId);
        const rows = await ingest(frames, call.principal, command, upload, {
          signal: call.signal,
          lane: call.lane,
          producer: parseProducer(call.metadata),
        });
        noteWrite(transaction, `${rows} rows ingested into ${command.table}`);
        return updateResult(rows);
      }
      default:
        throw unsupported({ name }, 'DoPut');
    }
  };

  return {
    getFlightInfo(packed, descriptor, call) {
      const command = unpackAny(packed);
      return command && infoOf(command, packed, call).then((parts) => flightInfo(descriptor, parts));
    },
    async getFlightInfoOfSql(text, descriptor, call) {
      return flightInfo(descriptor, await statements.startReading(text, call));
    },
    getSchema(packed, call) {
      const command = unpackAny(packed);
      return command && schemaOf(command, call);
    },
    getSchemaOfSql: (text, call) => statements.schemaOf({ query: text, transactionId: undefined }, call),
    doGet(packed, call) {
      const message = unpackAny(packed);
      return message && get(message, packed, call);
    },
    doGetSql: (text, call) => statements.rowsOf(text, call),
    doPut(packed, upload, call) {
      const command = unpackAny(packed);
      return command && single(async () => PutResult.encode({ appMetadata: await put(command, upload, call) }));
    },
    actions: actionDescriptions,
    doAction(type, body, call) {
      const action = findAction(type, body, { statements, prepared, transactions, cancellable });
      return action?.(call).then((result) => (result === undefined ? [] : [Result.encode({ body: result })]));
    },
  };
}

/** A stream of one message. */
async function* single(message: () => Promise<Uint8Array>): AsyncGenerator<Message> {
  yield await message();
}

function unsupported({ name }: Pick<SqlMessage, 'name'>, method: string): GrpcError {
  return new GrpcError('UNIMPLEMENTED', `${method} does not take ${name.slice(0, 80)}`);
}
