/** What the operator has set for answers of /exec. */
export interface ExecSettings {
  /** Rows that one answer may have; undefined = any number. */
  readonly maxLimit: number | undefined;
  readonly requestTimeoutMs: number;
  readonly compression: boolean;
}
