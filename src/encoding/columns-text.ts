import type { Column } from '@framehold/columns';

const texts = new WeakMap<readonly Column[], string>();

/** Columns as JSON, made once for each list. */
export function columnsText(columns: readonly Column[]): string {
  let text = texts.get(columns);
  if (text === undefined) {
    text = JSON.stringify(columns);
    texts.set(columns, text);
  }
  return text;
}
