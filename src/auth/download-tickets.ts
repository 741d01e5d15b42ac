import { type Caller, limitedAs, type Principal } from '../core/callers/principal.ts';
import { Tally } from '../core/callers/tally.ts';
import { AppError } from '../core/errors/app-error.ts';
import { randomBase32 } from '../core/names/handle.ts';
import { unauthenticated } from './credentials.ts';

/** The credentials of the caller that requested a ticket. */
export type TicketHolder = Pick<Caller, 'headers' | 'certificate'>;

interface Ticket {
  readonly holder: TicketHolder;
  /** The request that it is good for. */
  readonly request: string;
  readonly expiresAt: number;
  readonly tenant: string;
}

export const ticketLifetimeMs = 60_000;
/** For one tenant, not yet used or expired. */
export const maxTickets = 200;
const credentialHeaders = ['authorization', 'auth-token-bin', 'x-framehold-tenant'] as const;

/**
 * A link has no `Authorization`. A ticket in its URL replaces the credential of the caller that requested the ticket: for one
 * request, once, and soon. Tickets are in memory only. With the credential, they end when it is revoked.
 */
export class DownloadTickets {
  /** Oldest first. */
  readonly #tickets = new Map<string, Ticket>();
  readonly #byTenant = new Tally<string>();
  readonly #now: () => number;

  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  /** `request`: names a request among all others, in the words of the doors. */
  issue({ headers, certificate }: Caller, principal: Principal, request: string) {
    this.#dropExpired();
    const tenant = limitedAs(principal);
    if (this.#byTenant.add(tenant) > maxTickets) {
      this.#byTenant.remove(tenant);
      throw new AppError('rate_limited', `${maxTickets} tickets of your tenant are not used yet`, {
        hint: 'use them, or wait until they expire',
        retryAfterSeconds: ticketLifetimeMs / 1000,
      });
    }
    const shown = Object.fromEntries(credentialHeaders.map((name) => [name, headers[name]]));
    const ticket = `fht_${randomBase32(40)}`;
    const expiresAt = this.#now() + ticketLifetimeMs;
    this.#tickets.set(ticket, { holder: { headers: shown, certificate }, request, expiresAt, tenant });
    return { ticket, expiresAt };
  }

  /** The holder of the ticket. The ticket is used up, even by a wrong request. */
  redeem(ticket: string, request: string): TicketHolder {
    const found = this.#tickets.get(ticket);
    if (found !== undefined) this.#delete(ticket, found);
    if (found === undefined || found.expiresAt <= this.#now()) {
      throw unauthenticated(
        'the ticket is unknown, used or expired',
        'ask for another one with POST /tickets; it is good for one request within a minute',
      );
    }
    if (found.request !== request) {
      throw unauthenticated('the ticket is for another request', 'ask for one with POST /tickets for this path');
    }
    return found.holder;
  }

  #dropExpired(): void {
    const now = this.#now();
    for (const [name, ticket] of this.#tickets) {
      if (ticket.expiresAt > now) return;
      this.#delete(name, ticket);
    }
  }

  #delete(name: string, { tenant }: Ticket): void {
    this.#tickets.delete(name);
    this.#byTenant.remove(tenant);
  }
}
