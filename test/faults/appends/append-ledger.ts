import type { Outcome } from '../harness/ledger.ts';
import { promised } from '../harness/scenario.ts';
import { type AppendedRow, type AppendKey, isRowOf, rowCountOf } from './appended-rows.ts';

export interface Append extends AppendKey {
  readonly beganAt: number;
  endedAt: number;
  outcome: Outcome | 'under way';
}

/** The harness's own record of appends to one frame, by whoever and at whichever server. */
export class AppendLedger {
  readonly handle: string;
  readonly #byWriter = new Map<number, Append[]>();
  /** From now on no answer counts: what it says may not have reached the disk. */
  isCut = false;
  acks = 0;
  refused = 0;
  unanswered = 0;

  constructor(handle: string) {
    this.handle = handle;
  }

  /** The next append of a writer, which is sent now. */
  begin(writer: number): Append {
    const earlier = this.#byWriter.get(writer) ?? [];
    const append: Append = {
      writer,
      n: earlier.length,
      beganAt: performance.now(),
      endedAt: Number.POSITIVE_INFINITY,
      outcome: 'under way',
    };
    earlier.push(append);
    this.#byWriter.set(writer, earlier);
    return append;
  }

  end(append: Append, answer: Outcome): void {
    const outcome = this.isCut && answer === 'acknowledged' ? 'unknown' : answer;
    append.outcome = outcome;
    if (outcome !== 'unknown') append.endedAt = performance.now();
    if (outcome === 'acknowledged') this.acks++;
    else if (outcome === 'refused') this.refused++;
    else this.unanswered++;
  }

  /**
   * Every acknowledged append is there once and whole, no refused one is, each writer's are in its order, and one that was
   * answered before another was sent comes before it. What had no answer is from now on as it was found.
   */
  settle(lines: readonly string[]): void {
    const found = this.#appendsIn(lines);
    let latestBegin = 0;
    const last = new Map<number, number>();
    for (const append of found) {
      const { writer, n } = append;
      promised(append.outcome !== 'refused', 'nothing of a refused append is there', append);
      promised((last.get(writer) ?? -1) < n, `the appends of writer ${writer} are there once, in its order`, append);
      promised(append.endedAt >= latestBegin, 'what was answered before another was sent comes before it', append);
      last.set(writer, n);
      latestBegin = Math.max(latestBegin, append.beganAt);
    }
    const held = new Set(found);
    for (const append of [...this.#byWriter.values()].flat()) {
      const { outcome } = append;
      promised(outcome !== 'acknowledged' || held.has(append), 'an acknowledged append is there', append);
      if (outcome === 'acknowledged' || outcome === 'refused') continue;
      promised(outcome !== 'under way', 'nothing is under way when the rows are looked at', append);
      append.outcome = held.has(append) ? 'acknowledged' : 'refused';
      append.endedAt = performance.now();
    }
  }

  #appendsIn(lines: readonly string[]): Append[] {
    const rows = lines.map((line) => JSON.parse(line) as AppendedRow);
    const found: Append[] = [];
    for (let at = 0; at < rows.length; ) {
      const { w, n } = rows[at] as AppendedRow;
      const append = this.#byWriter.get(w)?.[n];
      promised(append !== undefined, `row ${at} is one that was appended`, rows[at]);
      const count = rowCountOf(append);
      for (let i = 0; i < count; i++) {
        const isWhole = isRowOf(append, i, rows[at + i]);
        promised(isWhole, `row ${at + i} is row ${i} of append ${n} of writer ${w}`, rows[at + i]);
      }
      found.push(append);
      at += count;
    }
    return found;
  }
}
