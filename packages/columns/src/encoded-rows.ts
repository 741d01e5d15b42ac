/** Consecutive rows, encoded. */
export interface EncodedRows {
  readonly rows: number;
  readonly bytes: Uint8Array;
  /**
   * The end of each row in `bytes`: for exec JSON behind the row's comma, for lines behind their end. Empty where rows cannot be
   * cut apart (`arrow`).
   */
  readonly rowEnds: Uint32Array;
}
