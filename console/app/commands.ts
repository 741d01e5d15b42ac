import { computed, signal } from '@preact/signals';
import { goTo, hrefOf } from './route.ts';
import { theme } from './theme.ts';
import { views } from './views.ts';

export interface Command {
  readonly id: string;
  readonly title: string;
  /** Shown beside it. */
  readonly keys?: string;
  run(): void;
}

const general: readonly Command[] = [
  ...views.map(({ name, title }) => ({ id: `view-${name}`, title: `Go to ${title}`, run: () => goTo(hrefOf(name)) })),
  ...(['system', 'light', 'dark'] as const).map((name) => ({
    id: `theme-${name}`,
    title: `Theme: ${name}`,
    run: () => {
      theme.value = name;
    },
  })),
];

const ofViews = signal<ReadonlyMap<string, readonly Command[]>>(new Map());

/** What the palette offers: those of the view that is shown first. */
export const commands = computed<readonly Command[]>(() => [...[...ofViews.value.values()].flat(), ...general]);

/** Offers commands of a view, until what this gives is called. For useEffect. */
export function offerCommands(owner: string, offered: readonly Command[]): () => void {
  ofViews.value = new Map(ofViews.peek()).set(owner, offered);
  return () => {
    const left = new Map(ofViews.peek());
    if (left.get(owner) === offered) left.delete(owner);
    ofViews.value = left;
  };
}
