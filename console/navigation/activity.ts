import { signal } from '@preact/signals';

/** Work that goes on while other views are shown. The navigation shows it. */
export interface Activity {
  readonly title: string;
  /** From 0 to 1; undefined if unknown. */
  readonly share: number | undefined;
  /** The view with more about it. */
  readonly href: string;
}

export const activity = signal<Activity | undefined>(undefined);
