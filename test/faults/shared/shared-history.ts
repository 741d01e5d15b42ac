import type { Content, Outcome, Verb } from '../harness/ledger.ts';
import { promised } from '../harness/scenario.ts';
import type { WriteNumber } from '../harness/written-rows.ts';

/** A write to a handle that others write to as well, at whichever server. */
export interface SharedWrite {
  readonly handle: string;
  readonly verb: Verb;
  readonly n: WriteNumber;
  /** One life of a server. */
  readonly server: string;
  readonly beganAt: number;
  endedAt: number;
  outcome: Outcome | 'under way';
  /** That it made, or dropped; undefined where it was not acknowledged. */
  version: number | undefined;
}

export interface SharedRead {
  readonly handle: string;
  readonly server: string;
  readonly beganAt: number;
  readonly endedAt: number;
  readonly content: Content;
}

/**
 * What was asked of several servers of the same frames, and what they answered. The versions of acknowledged writes tell
 * their order, so that every read can be held to it: it shows whole states of the frame, and none that is too old.
 */
export class SharedHistory {
  readonly #writes = new Map<string, SharedWrite[]>();
  readonly #boundMs: number;

  /** `boundMs`: how long after an acknowledgement another server may show what was before. */
  constructor(boundMs: number) {
    this.#boundMs = boundMs;
  }

  begin(write: SharedWrite): void {
    const before = this.#writes.get(write.handle) ?? [];
    this.#writes.set(write.handle, [...before, write]);
  }

  count(outcome: SharedWrite['outcome']): number {
    return this.#all().filter((write) => write.outcome === outcome).length;
  }

  /** Versions go up, and are given once: but for appends that one server has made durable together. */
  assertVersions(): void {
    for (const [handle, writes] of this.#writes) {
      const acked = writes.filter((write) => write.outcome === 'acknowledged');
      const isTogether = (one: SharedWrite, other: SharedWrite): boolean =>
        one.verb === 'append' && other.verb === 'append' && one.server === other.server;
      const twice = acked.filter((one, at) =>
        acked.slice(at + 1).some((other) => rankOf(one) === rankOf(other) && !isTogether(one, other)),
      );
      promised(twice.length === 0, `each version of ${handle} is made and dropped once`, shown(twice));
      for (const one of acked) {
        const late = acked.find((other) => one.endedAt < other.beganAt && rankOf(one) >= rankOf(other));
        promised(
          late === undefined,
          `versions of ${handle} go up`,
          shown([one, ...(late === undefined ? [] : [late])]),
        );
      }
    }
  }

  assertRead(read: SharedRead): void {
    const writes = this.#writes.get(read.handle) ?? [];
    const tooOld = writes.filter((write) => write.outcome === 'acknowledged' && this.#mustBeSeen(write, read));
    if (read.content === undefined) this.#assertAbsence(read, writes, tooOld);
    else this.#assertContent(read, read.content, writes, tooOld);
  }

  #assertAbsence(read: SharedRead, writes: readonly SharedWrite[], seen: readonly SharedWrite[]): void {
    for (const put of seen.filter(({ verb }) => verb !== 'drop')) {
      const isDropped = writes.some((write) => {
        if (write.verb !== 'drop' || write.beganAt > read.endedAt || write.outcome === 'refused') return false;
        return write.outcome !== 'acknowledged' || rankOf(write) > rankOf(put);
      });
      promised(isDropped, `${read.handle} is there after write ${put.n}`, { read, put });
    }
  }

  #assertContent(
    read: SharedRead,
    content: readonly WriteNumber[],
    writes: readonly SharedWrite[],
    seen: readonly SharedWrite[],
  ): void {
    promised(new Set(content).size === content.length, `${read.handle} holds each write once`, read);
    const held = content.map((n) => {
      const write = writes.find((one) => one.n === n);
      const isWritten = write !== undefined && write.outcome !== 'refused' && write.beganAt <= read.endedAt;
      promised(isWritten && write.verb !== 'drop', `${read.handle} holds what was written: ${n}`, { read, write });
      return write;
    });
    const others = held.slice(1).filter(({ verb }) => verb !== 'append');
    promised(others.length === 0, `behind the first write of ${read.handle} there are appends`, { read, others });
    const known = held.filter(({ outcome }) => outcome === 'acknowledged');
    const ranks = known.map(rankOf);
    // Appends that become durable together are one version.
    const isSorted = ranks.every((rank, at) => at === 0 || rank >= (ranks[at - 1] as number));
    promised(isSorted, `${read.handle} holds its writes in their order`, { read, ranks });
    const [first, last] = [held[0], held.at(-1)];
    if (first?.outcome === 'acknowledged' && last?.outcome === 'acknowledged') {
      const lost = writes.filter((write) => {
        const isBetween =
          write.outcome === 'acknowledged' && rankOf(write) > rankOf(first) && rankOf(write) < rankOf(last);
        return isBetween && !content.includes(write.n);
      });
      promised(lost.length === 0, `${read.handle} holds all that was acknowledged in between`, { read, lost });
    }
    if (last?.outcome !== 'acknowledged') return;
    const newer = seen.filter((write) => rankOf(write) > rankOf(last));
    promised(newer.length === 0, `${read.handle} shows what was acknowledged before`, { read, last, newer });
  }

  #mustBeSeen(write: SharedWrite, read: SharedRead): boolean {
    return write.endedAt < read.beganAt - (write.server === read.server ? 0 : this.#boundMs);
  }

  #all(): SharedWrite[] {
    return [...this.#writes.values()].flat();
  }
}

/** A drop comes right behind the version that it drops. */
function rankOf({ verb, version = 0 }: SharedWrite): number {
  return verb === 'drop' ? version + 0.5 : version;
}

function shown(writes: readonly SharedWrite[]): string[] {
  return writes.map(({ verb, n, version, server }) => `${verb} ${n} = ${version} at ${server}`);
}
