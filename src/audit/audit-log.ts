import { createHash } from 'node:crypto';
import { hostname } from 'node:os';
import { AddressCounts, plainAddress } from '../core/callers/address-counts.ts';
import type { Audit, AuditedRequest, AuditRecord } from '../core/callers/audit.ts';
import type { Principal } from '../core/callers/principal.ts';
import { type FrameDeed, RequestNotes } from '../core/logs/request-notes.ts';
import { newRequestId } from '../core/names/request-id.ts';
import { AuditFile, type AuditFileOptions } from './audit-file.ts';

/** Lines a minute of unidentified callers: of one address, and of all; and of a tenant beyond its limits. The others are summed. */
const singleLines = 10;
const singleLinesOfAll = 1000;
/** Outcomes of requests that come by the thousand from a caller beyond its limits. */
const limits: ReadonlySet<string> = new Set(['rate_limited', 'overloaded']);

/** The audit: a line of JSON for every request that is not open to anybody. */
export class AuditLog implements Audit, AsyncDisposable {
  readonly #file: AuditFile;
  readonly #strangers: AddressCounts;
  readonly #allStrangers: AddressCounts;
  readonly #limited: AddressCounts;

  private constructor(file: AuditFile) {
    this.#file = file;
    const onSum = (address: string, count: number): void =>
      file.append(lineOf({ address, action: 'refused', outcome: 'summed', count }));
    this.#strangers = new AddressCounts({ single: singleLines, onSum });
    this.#allStrangers = new AddressCounts({ single: singleLinesOfAll, onSum });
    const onSumOfTenant = (tenant: string, count: number): void =>
      file.append(lineOf({ tenant, action: 'refused', outcome: 'summed', count }));
    this.#limited = new AddressCounts({ single: singleLines, onSum: onSumOfTenant });
  }

  static async open(options: Omit<AuditFileOptions, 'lostLine'>): Promise<AuditLog> {
    const lostLine = (count: number): string => lineOf({ action: 'audit', outcome: 'lines_lost', count });
    return new AuditLog(await AuditFile.open({ ...options, lostLine }));
  }

  begin(request: AuditedRequest): AuditRecord {
    return new RequestRecord(request, this);
  }

  assertWorks(): void {
    this.#file.assertWorks();
  }

  reopen(): Promise<void> {
    return this.#file.reopen();
  }

  append(line: string): void {
    this.#file.append(line);
  }

  appendAndWait(line: string): Promise<void> {
    return this.#file.appendAndWait(line);
  }

  /** Neither unidentified callers nor callers beyond their limits can fill the disk. */
  isSummed({ address }: AuditedRequest, principal: Principal | undefined, outcome: string): boolean {
    if (principal === undefined) return !this.#strangers.add(address) || !this.#allStrangers.add('others');
    return limits.has(outcome) && !this.#limited.add(principal.tenant);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#strangers[Symbol.dispose]();
    this.#allStrangers[Symbol.dispose]();
    this.#limited[Symbol.dispose]();
    await this.#file[Symbol.asyncDispose]();
  }
}

class RequestRecord implements AuditRecord {
  readonly notes = new RequestNotes();
  readonly #request: AuditedRequest;
  readonly #log: AuditLog;
  readonly #begunMs = performance.now();
  #principal: Principal | undefined;
  /** Number of changes in the line. */
  #writtenChanges: number | undefined;

  constructor(request: AuditedRequest, log: AuditLog) {
    this.#request = request;
    this.#log = log;
    this.notes.object = request.object;
  }

  identified(principal: Principal): Principal {
    this.#principal = principal;
    this.#log.assertWorks();
    return { ...principal, notes: this.notes };
  }

  acknowledge(): Promise<void> | undefined {
    const changes = this.#changes();
    if (changes <= (this.#writtenChanges ?? 0)) return undefined;
    this.#writtenChanges = changes;
    return this.#log.appendAndWait(this.#line('ok'));
  }

  end(outcome: string, status?: number): void {
    this.notes.onLateChange = () => this.#log.append(this.#line(outcome, status));
    if (this.#writtenChanges !== undefined && this.#changes() <= this.#writtenChanges) return;
    if (this.#log.isSummed(this.#request, this.#principal, outcome)) return;
    this.#log.append(this.#line(outcome, status));
  }

  #changes(): number {
    return this.notes.changes + (this.#request.isChange ? 1 : 0);
  }

  #line(outcome: string, status?: number): string {
    const { door, method, route, requestId, givenId, address } = this.#request;
    const { tenant, name, credential, credentialId } = this.#principal ?? {};
    const { frames, moreFrames, object, sql, engine, rows, bytes } = this.notes;
    const isGiven = requestId === givenId;
    return lineOf({
      door,
      method,
      route,
      request_id: isGiven ? newRequestId() : requestId,
      client_request_id: isGiven ? givenId : undefined,
      tenant,
      name,
      credential,
      credential_id: credentialId,
      address: plainAddress(address),
      action: this.#action(),
      object,
      frames: frames.length === 0 ? undefined : frames,
      more_frames: moreFrames === 0 ? undefined : moreFrames,
      sql_sha256: sql === undefined ? undefined : createHash('sha256').update(sql).digest('hex'),
      engine,
      outcome,
      status,
      rows,
      bytes,
      ms: Math.round((performance.now() - this.#begunMs) * 10) / 10,
    });
  }

  /** By the rights that it needs; else the method of gRPC. */
  #action(): string | undefined {
    const { action, door, method } = this.#request;
    const { frames, sql } = this.notes;
    if (frames.some((frame) => !reads.has(frame.action))) return 'writeFrames';
    if (action !== undefined || door === 'http') return action;
    if (sql !== undefined) return 'runStatements';
    return frames.length > 0 ? 'readFrames' : method.slice(method.lastIndexOf('/') + 1);
  }
}

const reads: ReadonlySet<FrameDeed> = new Set(['read', 'describe']);

const server = `${hostname()}:${process.pid}`;
/** Callers put credentials into the strangest places. */
const secrets = /fh[st]?_[\w.-]{20,}|eyJ[\w-]{5,}\.[\w-]+(\.[\w-]*)?/g;

function lineOf(fields: Readonly<Record<string, unknown>>): string {
  const line = JSON.stringify({ time: new Date().toISOString(), server, ...fields });
  return `${line.replace(secrets, '***')}\n`;
}
