/** Something that calls share: bytes of memory, or places. */
export interface Capacity {
  /** Of one call, which holds nothing yet. */
  open(options: ShareOptions): Share;
}

export interface ShareOptions {
  /** In which turn it waits: `tenant#caller#connection`. */
  readonly lane: string;
  /** Ends who holds it. Default: what it holds cannot be taken back. */
  readonly revoke?: ((error: Error) => void) | undefined;
}

/** What one call holds of a capacity, until it is disposed of. */
export interface Share extends Disposable {
  /** False where it would have to wait for them. Throws where what it held was taken back. */
  tryTake(units: number): boolean;
  /** In its turn. `onlyBelowShare`: it waits only where it has less than others. Rejects where that takes too long. */
  take(units: number, options?: { readonly onlyBelowShare?: boolean }): Promise<void>;
  give(units: number): void;
  /** It did not sit still. */
  progress(): void;
  /** The client has sent all: from now on nothing is taken back. */
  settle(): void;
}
