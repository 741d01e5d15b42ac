import { isIPv6 } from 'node:net';

interface Count {
  readonly begunMs: number;
  count: number;
}

export interface AddressCountsOptions {
  /** Events of an address in one minute that are still treated one by one. */
  readonly single: number;
  /** Called with the number of events beyond these, at most once a minute and address. `others`: of addresses not remembered. */
  readonly onSum: (network: string | 'others', beyond: number) => void;
  readonly maxAddresses?: number;
  readonly now?: () => number;
}

const windowMs = 60_000;
const lookMs = 1000;

/** Counts events by their client's address, in windows of a minute. Its memory is bounded, whatever clients send. */
export class AddressCounts implements Disposable {
  readonly #options: Required<AddressCountsOptions>;
  /** May change. */
  single: number;
  /** In the order in which the windows began. */
  readonly #counts = new Map<string, Count>();
  #others: Count | undefined;
  readonly #timer: NodeJS.Timeout;

  constructor(options: AddressCountsOptions) {
    this.#options = { maxAddresses: 1000, now: () => performance.now(), ...options };
    this.single = options.single;
    this.#timer = setInterval(() => this.sweep(), lookMs).unref();
  }

  get size(): number {
    return this.#counts.size;
  }

  /** False after more than `single` in this minute; the further ones are reported as a sum. */
  add(address: string): boolean {
    const entry = this.#entryOf(networkOf(address));
    entry.count++;
    return entry !== this.#others && entry.count <= this.single;
  }

  /** Seconds until the address begins with none again. */
  secondsLeft(address: string): number {
    const begunMs = (this.#counts.get(networkOf(address)) ?? this.#others)?.begunMs;
    return begunMs === undefined ? 0 : Math.max(1, Math.ceil((begunMs + windowMs - this.#options.now()) / 1000));
  }

  /** Ends the windows that are over. */
  sweep(isLast = false): void {
    const { now, onSum } = this.#options;
    const endedMs = isLast ? Number.POSITIVE_INFINITY : now() - windowMs;
    for (const [network, { begunMs, count }] of this.#counts) {
      if (begunMs > endedMs) break;
      this.#counts.delete(network);
      if (count > this.single) onSum(network, count - this.single);
    }
    if (this.#others === undefined || this.#others.begunMs > endedMs) return;
    onSum('others', this.#others.count);
    this.#others = undefined;
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
    this.sweep(true);
  }

  #entryOf(network: string): Count {
    const begunMs = this.#options.now();
    let known = this.#counts.get(network);
    if (known !== undefined && known.begunMs <= begunMs - windowMs) {
      this.sweep();
      known = undefined;
    }
    if (known !== undefined) return known;
    const made = { begunMs, count: 0 };
    if (this.#counts.size < this.#options.maxAddresses) this.#counts.set(network, made);
    else this.#others ??= made;
    return this.#counts.get(network) ?? this.#others ?? made;
  }
}

/** An IPv4 address, or the /64 of an IPv6 address, which is as much as one host commonly has. */
export function networkOf(address: string): string {
  const plain = plainAddress(address);
  if (!isIPv6(plain)) return plain;
  const [front = '', back] = (plain.split('%')[0] ?? '').split('::');
  const groups = front === '' ? [] : front.split(':');
  if (back !== undefined) {
    const behind = back === '' ? [] : back.split(':');
    while (groups.length + behind.length < 8) groups.push('0');
    groups.push(...behind);
  }
  return `${groups
    .slice(0, 4)
    .map((group) => group.toLowerCase().replace(/^0+(?=.)/, ''))
    .join(':')}::/64`;
}

/** Without the form that a listener for both families gives to IPv4. */
export function plainAddress(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.)/i, '');
}
