/** A setting's text and its source. */
export interface GivenValue {
  readonly text: string;
  /** As a place to look at: `--grpc-port`, `FRAMEHOLD_GRPC_PORT`, `/etc/framehold.toml:3`, `default`. */
  readonly origin: string;
}

/** A value in a message: on one line, quoted, not endless. */
export function quoteValue(text: string): string {
  return JSON.stringify(text.length > 100 ? `${text.slice(0, 100)}…` : text);
}
