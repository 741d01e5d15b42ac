import type { Answer, Api } from './api.ts';
import type { Connection } from './connection.ts';
import type { Http, Stoppable } from './http.ts';
import type { FrameInfo } from './operations.ts';

/** A token, without its secret. */
export type Token = Answer<'GET /tokens'>['tokens'][number];
export type TokenRequest = Api['POST /tokens']['body'];
export type Tenant = Answer<'GET /tenants'>['tenants'][number];
/** Absent fields stay as they are; null removes a limit. */
export type TenantChange = Api['PATCH /tenants/{name}']['body'];

/** Operations of admins and operators. */
export class Administration {
  readonly #http: Http;

  constructor({ http }: Connection) {
    this.#http = http;
  }

  async tokens({ signal }: Stoppable = {}): Promise<readonly Token[]> {
    return (await this.#http.call('GET /tokens', { signal })).tokens;
  }

  /** Gives the secret, which is shown this once. */
  async createToken(request: TokenRequest, { signal }: Stoppable = {}): Promise<string> {
    return (await this.#http.call('POST /tokens', { body: request, signal })).token;
  }

  /** Another token with the same rights; the old one ends after `overlap`, such as `24h`. Gives the secret. */
  async rotateToken(id: string, overlap?: string, { signal }: Stoppable = {}): Promise<string> {
    const body = overlap === undefined ? {} : { overlap };
    return (await this.#http.call('POST /tokens/{id}/rotate', { segments: { id }, body, signal })).token;
  }

  async revokeToken(id: string, { signal }: Stoppable = {}): Promise<void> {
    await this.#http.call('DELETE /tokens/{id}', { segments: { id }, signal });
  }

  async tenants({ signal }: Stoppable = {}): Promise<readonly Tenant[]> {
    return (await this.#http.call('GET /tenants', { signal })).tenants;
  }

  createTenant(name: string, change: TenantChange = {}, { signal }: Stoppable = {}): Promise<Tenant> {
    return this.#http.call('POST /tenants', { body: { name, ...change }, signal });
  }

  setTenant(name: string, change: TenantChange, { signal }: Stoppable = {}): Promise<Tenant> {
    return this.#http.call('PATCH /tenants/{name}', { segments: { name }, body: change, signal });
  }

  async removeTenant(name: string, { signal }: Stoppable = {}): Promise<void> {
    await this.#http.call('DELETE /tenants/{name}', { segments: { name }, signal });
  }

  /** Brings rows that are only in the log of a frame into Parquet, for programs that read the server's files. */
  flush(handle: string, { signal }: Stoppable = {}): Promise<FrameInfo> {
    return this.#http.call('POST /handles/{handle}/flush', { segments: { handle }, signal });
  }
}
