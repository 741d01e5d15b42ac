import { computed, signal } from '@preact/signals';

export interface Command {
  readonly id: string;
  readonly title: string;
  /** Shown beside it. */
  readonly keys?: string;
  run(): void;
}

const ofViews = signal<ReadonlyMap<string, readonly Command[]>>(new Map());

/** The commands of views. */
export const offeredCommands = computed<readonly Command[]>(() => [...ofViews.value.values()].flat());

/** Offers commands of a view, until the returned function is called. For useEffect. */
export function offerCommands(owner: string, offered: readonly Command[]): () => void {
  ofViews.value = new Map(ofViews.peek()).set(owner, offered);
  return () => {
    const left = new Map(ofViews.peek());
    if (left.get(owner) === offered) left.delete(owner);
    ofViews.value = left;
  };
}
