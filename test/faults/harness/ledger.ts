import type { WriteNumber } from './written-rows.ts';

export type Verb = 'create' | 'overwrite' | 'append' | 'drop';

export interface Operation {
  readonly handle: string;
  readonly verb: Verb;
  readonly n: WriteNumber;
}

/** The writes that a frame is made of; undefined where there is no frame. */
export type Content = readonly WriteNumber[] | undefined;

/** `unknown`: the connection broke before an answer, so it may have happened or not. */
export type Outcome = 'acknowledged' | 'refused' | 'unknown';

/**
 * The harness's own record of what it was told. For each handle it holds all contents that the server may show; there is
 * more than one only where a write had no answer.
 */
export class Ledger {
  readonly #possible = new Map<string, Content[]>();
  readonly #recordings = new Set<Recording>();
  acknowledged = 0;
  refused = 0;
  unknown = 0;

  get handles(): string[] {
    return [...this.#possible.keys()];
  }

  possible(handle: string): readonly Content[] {
    return this.#possible.get(handle) ?? [undefined];
  }

  note(operation: Operation, outcome: Outcome): void {
    this[outcome]++;
    const before = this.possible(operation.handle);
    // One that was made anew cannot have been there.
    const free = before.filter((content) => operation.verb !== 'create' || content === undefined);
    const after = free.map((content) => applied(content, operation));
    const next = outcome === 'acknowledged' ? after : outcome === 'refused' ? before : [...before, ...after];
    this.#possible.set(operation.handle, distinct(next));
    for (const recording of this.#recordings) recording.add(operation.handle, next);
  }

  /** Notes all contents that handles may show from now on, until `end`. */
  record(): Recording {
    const recording = new Recording(this.#possible, (ended) => this.#recordings.delete(ended));
    this.#recordings.add(recording);
    return recording;
  }

  /** Takes what the server shows as what is there from now on. Throws where it may not be. */
  settle(handle: string, found: Content): void {
    const possible = this.possible(handle);
    if (!possible.some((content) => isSame(content, found))) {
      throw new Error(`${handle} should hold ${possible.map(shown).join(' or ')}, but holds ${shown(found)}`);
    }
    this.#possible.set(handle, [found]);
  }
}

/** What handles may have shown at some moment of a time. */
export class Recording {
  readonly #seen = new Map<string, Content[]>();
  readonly #onEnd: (recording: Recording) => void;

  constructor(possible: ReadonlyMap<string, readonly Content[]>, onEnd: (recording: Recording) => void) {
    for (const [handle, contents] of possible) this.#seen.set(handle, [...contents]);
    this.#onEnd = onEnd;
  }

  add(handle: string, contents: readonly Content[]): void {
    this.#seen.set(handle, [...(this.#seen.get(handle) ?? [undefined]), ...contents]);
  }

  end(): void {
    this.#onEnd(this);
  }

  get handles(): string[] {
    return [...this.#seen.keys()];
  }

  assertSeen(handle: string, found: Content): void {
    const seen = this.#seen.get(handle) ?? [undefined];
    if (seen.some((content) => isSame(content, found))) return;
    throw new Error(`${handle} held ${distinct(seen).map(shown).join(', then ')}, but the copy holds ${shown(found)}`);
  }
}

function applied(content: Content, { verb, n }: Operation): Content {
  switch (verb) {
    case 'create':
    case 'overwrite':
      return [n];
    case 'append':
      return [...(content ?? []), n];
    case 'drop':
      return undefined;
    default:
      return verb satisfies never;
  }
}

function isSame(one: Content, other: Content): boolean {
  return shown(one) === shown(other);
}

function distinct(contents: readonly Content[]): Content[] {
  return contents.filter((content, index) => contents.findIndex((each) => isSame(each, content)) === index);
}

function shown(content: Content): string {
  return content === undefined ? 'no frame' : `[${content.join(' ')}]`;
}
