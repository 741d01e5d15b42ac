import { signal } from '@preact/signals';

/** Something that goes on while other views are shown. The navigation tells of it. */
export interface Activity {
  readonly title: string;
  /** From 0 to 1; undefined where nobody knows. */
  readonly share: number | undefined;
  /** Where more is told. */
  readonly href: string;
}

export const activity = signal<Activity | undefined>(undefined);
