import { expect, test } from 'vitest';
import { unpackAny } from './any-message.ts';
import { decodeTicket, encodeTicket, type StatementTicket } from './statement-ticket.ts';

test.each<StatementTicket>([
  { kind: 'query', sql: 'select 1' },
  { kind: 'bound', handle: Buffer.from('0123456789abcdef'), bindingId: 7 },
  { kind: 'done' },
])('a ticket says again what it was made of: $kind', (ticket) => {
  const message = unpackAny(encodeTicket(ticket));
  expect(message?.name).toBe('TicketStatementQuery');
  expect(decodeTicket(message?.value ?? new Uint8Array(0))).toEqual(ticket);
});

test('no two tickets are the same', () => {
  const ticket = { kind: 'query', sql: 'select 1' } as const;
  expect(encodeTicket(ticket)).not.toEqual(encodeTicket(ticket));
});

test('a ticket of another server is refused', () => {
  expect(() => decodeTicket(new Uint8Array(0))).toThrow('not one of this server');
});
