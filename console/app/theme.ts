import { effect, signal } from '@preact/signals';

export type Theme = 'system' | 'light' | 'dark';

const storageKey = 'framehold.theme';
const stored = localStorage.getItem(storageKey);

export const theme = signal<Theme>(stored === 'light' || stored === 'dark' ? stored : 'system');

/** `color-scheme` selects the value of every `light-dark()` of the style. */
export function applyTheme(): void {
  effect(() => {
    document.documentElement.dataset.theme = theme.value;
    localStorage.setItem(storageKey, theme.value);
  });
}
