import type { Principal } from './principal.ts';
import type { RequestNotes } from './request-notes.ts';

/** A request as its listener knows it, before anything is done. */
export interface AuditedRequest {
  readonly door: 'http' | 'grpc';
  readonly method: string;
  /** Of HTTP: the path with `{name}`s in it. */
  readonly route?: string | undefined;
  readonly action?: string | undefined;
  readonly object?: string | undefined;
  /** It changes something, whatever the notes say. */
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
   * Gives the principal whose operations are noted here. Throws (`audit_unavailable`) where lines cannot be written now and
   * nothing may be done without one.
   */
  identified(principal: Principal): Principal;
  /**
   * To be called before a good answer. Undefined where the request changed nothing; else resolves when the line is with the
   * kernel. Rejects (`audit_unavailable`) where it cannot be written and nothing may be done without a line.
   */
  acknowledge(): Promise<void> | undefined;
  /** To be called when the answer has ended. `outcome`: `ok`, or why not. */
  end(outcome: string, status?: number): void;
}

/** Where all requests are written down. */
export interface Audit {
  begin(request: AuditedRequest): AuditRecord;
}
