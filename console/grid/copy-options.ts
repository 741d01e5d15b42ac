import { signal } from '@preact/signals';
import type { CopyOptions } from './copy-format.ts';

/** As the person chose last, until the page is loaded again. */
export const copyOptions = signal<CopyOptions>({ format: 'tsv', hasHeader: true, escapeFormulas: true });

/** The clipboard is bad at more: use exports for that. */
export const maxCopiedCells = 500_000;
