import { bool, bytes, int64, message, optionalString, string } from '@framehold/grpc';
import { AppError } from '../../../core/errors/app-error.ts';
import { readSettings, type StatementSettings } from '../../../core/sql/statement-settings.ts';
import { packAny } from './any-message.ts';
import { pooledRandomBytes } from './random-bytes.ts';
import { TicketStatementQuery } from './sql-messages.ts';

/** The task of a DoGet. */
export type StatementTicket =
  /** A query without parameters: the text says all, so that the ticket outlives its prepared statement. */
  | {
      readonly kind: 'query';
      readonly sql: string;
      readonly engine?: string | undefined;
      readonly settings?: StatementSettings | undefined;
    }
  /** A prepared query with the parameters that were bound when the ticket was made. */
  | { readonly kind: 'bound'; readonly handle: Uint8Array; readonly bindingId: number }
  /** A statement with RETURNING, which has run. */
  | { readonly kind: 'returned'; readonly rows: Uint8Array }
  /** A statement that changed something, and has run: there is nothing to read. */
  | { readonly kind: 'done' };

const Content = message({
  nonce: bytes(1),
  sql: string(2),
  handle: bytes(3),
  bindingId: int64(4),
  isDone: bool(5),
  engine: optionalString(6),
  /** As JSON. */
  settings: optionalString(7),
  returned: bytes(8),
});

/** Each ticket is unique, also for the same text, so that a cancel stops no other. */
export function encodeTicket(ticket: StatementTicket): Uint8Array {
  const nonce = pooledRandomBytes(8);
  return packAny('TicketStatementQuery', TicketStatementQuery.encode({ statementHandle: content(ticket, nonce) }));
}

function content(ticket: StatementTicket, nonce: Uint8Array): Uint8Array {
  switch (ticket.kind) {
    case 'query':
      return Content.encode({
        nonce,
        sql: ticket.sql,
        engine: ticket.engine,
        settings: ticket.settings && JSON.stringify(ticket.settings),
      });
    case 'bound':
      return Content.encode({ nonce, handle: ticket.handle, bindingId: BigInt(ticket.bindingId) });
    case 'returned':
      return Content.encode({ nonce, returned: ticket.rows });
    case 'done':
      return Content.encode({ nonce, isDone: true });
    default:
      return ticket satisfies never;
  }
}

/** `value` is the message TicketStatementQuery. */
export function decodeTicket(value: Uint8Array): StatementTicket {
  const { sql, handle, bindingId, isDone, engine, settings, returned } = Content.decode(
    TicketStatementQuery.decode(value).statementHandle,
  );
  if (isDone) return { kind: 'done' };
  if (returned.length > 0) return { kind: 'returned', rows: returned };
  if (handle.length > 0) return { kind: 'bound', handle, bindingId: Number(bindingId) };
  if (sql !== '') return { kind: 'query', sql, engine, settings: settingsOf(settings) };
  throw strangeTicket();
}

/** Clients can make tickets as well as the server: their content is untrusted. */
function settingsOf(json: string | undefined): StatementSettings | undefined {
  if (json === undefined) return undefined;
  try {
    return readSettings(Object.entries(JSON.parse(json) as object).map(([name, value]) => [name, String(value)]));
  } catch (cause) {
    throw cause instanceof AppError ? cause : strangeTicket(cause);
  }
}

function strangeTicket(cause?: unknown): AppError {
  return new AppError('invalid_input', 'the ticket is not one of this server', { cause });
}
