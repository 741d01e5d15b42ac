import { AppError } from '../errors/app-error.ts';
import type { Caller, Identify, Principal } from './principal.ts';

/** A running request. */
export interface WatchedRequest {
  readonly caller: Caller;
  /** As it was identified when the request began. */
  readonly principal: Principal;
  /** Ends it, with this error if its client can still receive one. */
  endNow(error: AppError): void;
}

const lookMs = 1000;

/** Ends requests that outlast their credentials: callers of requests over a second are identified again every second. */
export class CredentialWatch implements Disposable {
  readonly #identify: Identify;
  #young = new Set<WatchedRequest>();
  readonly #old = new Set<WatchedRequest>();
  readonly #timer: NodeJS.Timeout;

  constructor(identify: Identify) {
    this.#identify = identify;
    this.#timer = setInterval(() => this.#look(), lookMs).unref();
  }

  add(request: WatchedRequest): void {
    this.#young.add(request);
  }

  delete(request: WatchedRequest): void {
    if (!this.#young.delete(request)) this.#old.delete(request);
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }

  #look(): void {
    for (const request of this.#old) void this.#check(request);
    for (const request of this.#young) this.#old.add(request);
    if (this.#young.size > 0) this.#young = new Set();
  }

  async #check(request: WatchedRequest): Promise<void> {
    const why = await this.#whyEnded(request);
    if (why === undefined || !this.#old.delete(request)) return;
    request.endNow(
      new AppError('unauthenticated', `the credential ended while the request was under way: ${why}`, {
        hint: 'send the request again with a good credential',
      }),
    );
  }

  async #whyEnded({ caller, principal }: WatchedRequest): Promise<string | undefined> {
    try {
      const { tenant, role, prefix } = await this.#identify(caller);
      const isSame = tenant === principal.tenant && role === principal.role && prefix === principal.prefix;
      return isSame ? undefined : 'its rights have changed';
    } catch (error) {
      // An issuer that cannot be reached just now ends nothing.
      const isRefused = error instanceof AppError && /^(unauthenticated|forbidden|not_found)$/.test(error.code);
      return isRefused ? error.message : undefined;
    }
  }
}
