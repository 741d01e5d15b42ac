/** Marks an append, so that one that is sent a second time is recognised. Counted for each frame. */
export interface Producer {
  readonly id: string;
  /** A producer that begins anew takes the next one; those of before are refused then. */
  readonly epoch: number;
  /** 0, 1, 2, … within an epoch. */
  readonly seq: number;
}
