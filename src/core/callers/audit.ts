import type { RequestNotes } from '../logs/request-notes.ts';
import type { Principal } from './principal.ts';

/** A request as its listener knows it, before anything is done. */
export interface AuditedRequest {
  readonly door: 'http' | 'grpc';
  readonly method: string;
  /** For HTTP: the path with `{name}`s in it. */
  readonly route?: string | undefined;
  readonly action?: string | undefined;
  readonly object?: string | undefined;
  /** It changes something, even if the notes have no change. */
  readonly isChange: boolean;
  readonly requestId: string;
  /** `X-Request-Id` as the caller sent it. */
  readonly givenId: unknown;
  readonly address: string;
}

/** The line of one request, which is written once. */
export interface AuditRecord {
  readonly notes: RequestNotes;
  /**
   * The principal with notes for this line. Throws (`audit_unavailable`) if lines cannot be written now and operations need one.
   */
  identified(principal: Principal): Principal;
  /**
   * Must be called before a good answer. Undefined if the request changed nothing; else resolves when the line is with the
   * kernel. Rejects (`audit_unavailable`) if it cannot be written and operations need a line.
   */
  acknowledge(): Promise<void> | undefined;
  /** To be called when the answer has ended. `outcome`: `ok`, or why not. */
  end(outcome: string, status?: number): void;
}

/** The log of all requests. */
export interface Audit {
  begin(request: AuditedRequest): AuditRecord;
}
