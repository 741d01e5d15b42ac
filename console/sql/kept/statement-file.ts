/** A file with statements of this browser. `key` says where they are in it. */
export function fileText(kind: string, key: string, items: readonly unknown[]): string {
  return `${JSON.stringify({ kind, [key]: items }, null, 2)}\n`;
}

/** Throws for another file. */
export function itemsOf(text: string, kind: string, key: string): unknown {
  let document: unknown;
  try {
    document = JSON.parse(text);
  } catch {
    throw new Error('it is not JSON');
  }
  const found = (document ?? {}) as Readonly<Record<string, unknown>>;
  if (found.kind !== kind) throw new Error('it is not a file with statements that was exported here');
  return found[key];
}
