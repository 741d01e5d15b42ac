import { expect, test } from 'vitest';
import { DownloadTickets, ticketLifetimeMs } from './download-tickets.ts';
import { anonymous } from './identify.ts';

test('a ticket ends after a minute, and leaves its place to another one', () => {
  let now = 0;
  const tickets = new DownloadTickets(() => now);
  const caller = { headers: { authorization: 'Bearer x', cookie: 'y' }, address: '' };
  const first = tickets.issue(caller, anonymous, 'GET /a');
  now = ticketLifetimeMs - 1;
  const second = tickets.issue(caller, anonymous, 'GET /a');
  expect(tickets.redeem(first.ticket, 'GET /a').headers).toEqual({ authorization: 'Bearer x' });
  now += ticketLifetimeMs;
  expect(() => tickets.redeem(second.ticket, 'GET /a')).toThrow('unknown, used or expired');
});
