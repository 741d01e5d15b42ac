import { signal } from '@preact/signals';
import type { CopyOptions } from './copy-format.ts';

/** As the person chose last, until the page is loaded again. */
export const copyOptions = signal<CopyOptions>({ format: 'tsv', hasHeader: true, escapeFormulas: true });

/** More does not go through the clipboard well: that is what exports are for. */
export const maxCopiedCells = 500_000;
