import type { TextPiece } from '../../../../core/sql.ts';

/** Where an offset in a composed text stands in the caller's, if it does. */
export function placeIn(pieces: readonly TextPiece[], at: number): number | undefined {
  const piece = pieces.findLast(({ built }) => built <= at);
  return piece === undefined || at > piece.built + piece.length ? undefined : piece.written + at - piece.built;
}

/** The same, or the nearest place that does. */
export function nearestPlace(pieces: readonly TextPiece[], at: number): number {
  const piece = pieces.findLast(({ built }) => built <= at) ?? pieces[0];
  if (piece === undefined) return 0;
  return piece.written + Math.min(Math.max(0, at - piece.built), piece.length);
}
