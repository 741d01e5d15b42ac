import { parseQueryString } from './query-string.ts';

export interface TicketTarget {
  /** Without the ticket, which is neither logged, forwarded nor answered. */
  readonly target: string;
  readonly ticket: string | undefined;
}

/** Takes the ticket out of a request target. */
export function splitTicket(target: string): TicketTarget {
  const start = target.indexOf('?') + 1;
  if (start === 0 || !target.includes('ticket=', start)) return { target, ticket: undefined };
  const pairs = target.slice(start).split('&');
  const [ticket, ...more] = pairs.filter((pair) => pair.startsWith('ticket='));
  // A malformed ticket stays, for the route's parser to refuse.
  if (ticket === undefined || more.length > 0 || !/^[\w=-]*$/.test(ticket)) return { target, ticket: undefined };
  const rest = pairs.filter((pair) => pair !== ticket).join('&');
  return { target: target.slice(0, start) + rest, ticket: ticket.slice('ticket='.length) };
}

/** The request of a ticket: a target by its meaning, because browsers encode some characters in their own way. */
export function boundRequest(method: string, target: string): string {
  const path = target.split('?', 1)[0] ?? '';
  return JSON.stringify([method, path, [...parseQueryString(target)].sort(([a], [b]) => (a < b ? -1 : 1))]);
}
