/** Words that SQL does not take for names. */
const reserved = new Set(
  (
    'all analyse analyze and any array as asc asymmetric both case cast check collate column constraint create default deferrable ' +
    'desc describe distinct do else end except false fetch for foreign from group having in initially intersect into lambda lateral ' +
    'leading limit not null offset on only or order pivot pivot_longer pivot_wider placing primary qualify references returning ' +
    'select show some summarize symmetric table then to trailing true union unique unpivot using variadic when where window with'
  ).split(' '),
);

/** The name of a frame in SQL; the owner of a shared one is its schema. */
export function sqlName(handle: string): string {
  return handle.split('/').map(quoteIdentifier).join('.');
}

function quoteIdentifier(name: string): string {
  return /^[a-z_][a-z0-9_]*$/.test(name) && !reserved.has(name) ? name : `"${name.replaceAll('"', '""')}"`;
}
