import { createLocalJWKSet, decodeProtectedHeader, errors, type JSONWebKeySet, type JWTPayload, jwtVerify } from 'jose';
import { isTenant, type Role, roles, type Tenant } from '../core/callers/principal.ts';
import { AppError } from '../core/errors/app-error.ts';
import type { Logger } from '../core/logs/logger.ts';
import { unauthenticated } from './credentials.ts';
import { type Discovery, discover, fetchJson } from './discovery.ts';

/** One table of `[auth.issuers.<name>]`. */
export interface IssuerSettings {
  readonly name: string;
  readonly issuer: string;
  readonly audience: string;
  /** Undefined: found by OpenID Connect discovery. */
  readonly jwksUrl: string | undefined;
  readonly algorithms: readonly string[];
  /** Undefined: any. */
  readonly typ: string | undefined;
  /** One of the two. */
  readonly tenant: Tenant | undefined;
  readonly tenantClaim: string | undefined;
  readonly roleClaim: string;
  /** Value of the claim → role. */
  readonly roles: ReadonlyMap<string, Role>;
  /** Undefined: the console does not log in there. */
  readonly consoleClientId: string | undefined;
  readonly consoleScope: string;
}

/** The login by a browser: the authorization code flow with PKCE. */
export interface IssuerLogin {
  readonly name: string;
  readonly clientId: string;
  readonly scope: string;
  readonly authorizationEndpoint: string;
  readonly tokenEndpoint: string;
}

export interface JwtIdentity {
  readonly tenant: Tenant;
  readonly name: string;
  readonly role: Role;
  readonly expiresAt: number;
}

const fetchEveryMs = 30_000;
const refreshAfterMs = 10 * 60_000;
const clockToleranceSeconds = 60;
/** Dates end here, in milliseconds since 1970. */
const lastTime = 8.64e15;

interface Keys {
  readonly find: ReturnType<typeof createLocalJWKSet>;
  readonly fetchedAt: number;
}

/** Verifies the JWTs of one issuer with its keys, which are fetched ahead and cached while the issuer is down. */
export class Issuer {
  readonly settings: IssuerSettings;
  readonly #maxStaleMs: number;
  readonly #logger: Logger;
  #keys: Keys | undefined;
  #login: IssuerLogin | undefined;
  #fetching: Promise<void> | undefined;
  #triedAt = -Infinity;

  constructor(
    settings: IssuerSettings,
    { maxStaleMs, logger }: { readonly maxStaleMs: number; readonly logger: Logger },
  ) {
    this.settings = settings;
    this.#maxStaleMs = maxStaleMs;
    this.#logger = logger;
    // The start does not wait for it.
    void this.#fetch();
  }

  get issuer(): string {
    return this.settings.issuer;
  }

  /** Undefined without the login, and until the issuer's endpoints are known. */
  get login(): IssuerLogin | undefined {
    if (this.#login === undefined && this.settings.consoleClientId !== undefined) void this.#fetch();
    return this.#login;
  }

  async verify(jwt: string): Promise<JwtIdentity> {
    const payload = await this.#payload(jwt);
    return this.#identity(payload);
  }

  async #payload(jwt: string): Promise<JWTPayload> {
    const keys = await this.#freshKeys();
    try {
      return await this.#check(jwt, keys);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw this.#refusal(jwt, error);
    }
    // Its key may be new.
    await this.#fetch();
    try {
      return await this.#check(jwt, this.#keys ?? keys);
    } catch (error) {
      throw this.#refusal(jwt, error);
    }
  }

  #refusal(jwt: string, error: unknown): unknown {
    if (!(error instanceof errors.JOSEAlgNotAllowed)) return refusal(error);
    const { name, algorithms } = this.settings;
    const { alg = '' } = decodeProtectedHeader(jwt);
    const shown = /^[\w-]{1,20}$/.test(alg) ? ` ${alg}` : '';
    return unauthenticated(
      `the token is refused: its algorithm${shown} is not among those of issuer ${name}`,
      `let the issuer sign with ${algorithms.join(' or ')}, or the operator add the algorithm to [auth.issuers.${name}]`,
    );
  }

  async #check(jwt: string, { find }: Keys): Promise<JWTPayload> {
    const { issuer, audience, algorithms, typ } = this.settings;
    const { payload } = await jwtVerify(jwt, find, {
      issuer,
      audience,
      algorithms: [...algorithms],
      ...(typ !== undefined && { typ }),
      requiredClaims: ['exp', 'sub'],
      clockTolerance: clockToleranceSeconds,
    });
    return payload;
  }

  #identity(payload: JWTPayload): JwtIdentity {
    const { tenant: fixed, tenantClaim, roleClaim, roles: mapping, name } = this.settings;
    const tenants = tenantClaim === undefined ? [] : claimOf(payload, tenantClaim);
    // Among several tenants the meant one is unknown.
    const tenant = fixed ?? (tenants.length === 1 ? tenants[0] : undefined);
    const given = claimOf(payload, roleClaim).flatMap((value) => mapping.get(value) ?? []);
    const role = roles.findLast((each) => given.includes(each));
    if (tenant === undefined || !isTenant(tenant) || role === undefined) {
      throw new AppError(
        'forbidden',
        `the token of issuer ${name} is good, but gives no ${role === undefined ? 'role' : 'tenant'} here`,
        {
          hint: `let the operator look at [auth.issuers.${name}]`,
        },
      );
    }
    const expiresAt = Math.min((payload.exp ?? 0) * 1000, lastTime);
    return { tenant, role, name: `${name}:${subjectOf(payload)}`, expiresAt };
  }

  async #freshKeys(): Promise<Keys> {
    const ageMs = this.#keys === undefined ? Infinity : performance.now() - this.#keys.fetchedAt;
    if (ageMs > refreshAfterMs) {
      const fetching = this.#fetch();
      if (ageMs > this.#maxStaleMs) await fetching;
    }
    const keys = this.#keys;
    if (keys !== undefined && performance.now() - keys.fetchedAt <= this.#maxStaleMs) return keys;
    throw new AppError('auth_unavailable', `the keys of issuer ${this.settings.name} cannot be had`, {
      hint: 'try again in a moment; other kinds of credentials still work',
      retryAfterSeconds: fetchEveryMs / 1000,
    });
  }

  /** At most one fetch in thirty seconds. Never rejects. */
  #fetch(): Promise<void> {
    if (this.#fetching !== undefined) return this.#fetching;
    if (performance.now() - this.#triedAt < fetchEveryMs) return Promise.resolve();
    this.#triedAt = performance.now();
    this.#fetching = this.#load()
      .catch((error: unknown) => {
        this.#logger.warn('could not fetch the keys of an issuer', {
          issuer: this.settings.name,
          error: String(error),
        });
      })
      .finally(() => {
        this.#fetching = undefined;
      });
    return this.#fetching;
  }

  async #load(): Promise<void> {
    const { jwksUrl, issuer, consoleClientId } = this.settings;
    if (jwksUrl === undefined) {
      const found = await discover(issuer);
      this.#noteLogin(found);
      await this.#loadKeys(found.jwksUrl);
      return;
    }
    await this.#loadKeys(jwksUrl);
    if (consoleClientId !== undefined) this.#noteLogin(await discover(issuer));
  }

  async #loadKeys(url: string): Promise<void> {
    const keys = (await fetchJson(url)) as JSONWebKeySet;
    this.#keys = { find: createLocalJWKSet(keys), fetchedAt: performance.now() };
  }

  #noteLogin({ authorizationEndpoint, tokenEndpoint }: Discovery): void {
    const { name, consoleClientId: clientId, consoleScope: scope } = this.settings;
    if (clientId === undefined || authorizationEndpoint === undefined || tokenEndpoint === undefined) return;
    this.#login = { name, clientId, scope, authorizationEndpoint, tokenEndpoint };
  }
}

/** The issuer in a JWT, unverified: only to choose the verifier. */
export function namedIssuer(jwt: string): string | undefined {
  try {
    decodeProtectedHeader(jwt);
    const claims: unknown = JSON.parse(Buffer.from(jwt.split('.')[1] ?? '', 'base64url').toString());
    const issuer = (claims as { iss?: unknown } | null)?.iss;
    return typeof issuer === 'string' ? issuer : undefined;
  } catch {
    return undefined;
  }
}

/** It stands in lists, logs and the audit. */
function subjectOf({ sub }: JWTPayload): string {
  if (typeof sub === 'string' && /^[^\p{Cc}]{1,256}$/u.test(sub)) return sub;
  throw unauthenticated(
    'the token is refused: its claim sub is not as it must be',
    'it is a text of 1 to 256 characters, none of which controls a terminal',
  );
}

/** The values of a claim, by its name, or by a path with dots through objects. A claim with other values than texts has none. */
function claimOf(payload: JWTPayload, name: string): readonly string[] {
  const inside = (at: unknown, key: string): unknown => (at as Record<string, unknown> | null | undefined)?.[key];
  const claim = payload[name] ?? name.split('.').reduce(inside, payload as unknown);
  const values: readonly unknown[] = [claim].flat();
  return values.every((each) => typeof each === 'string') ? values : [];
}

function refusal(error: unknown): unknown {
  if (error instanceof errors.JWTExpired)
    return unauthenticated('the token has expired', 'get a new one from its issuer');
  if (error instanceof errors.JWTClaimValidationFailed) {
    return unauthenticated(
      `the token is refused: its claim ${error.claim} is not as it must be`,
      'get a token for this server from its issuer',
    );
  }
  if (error instanceof errors.JOSEError) {
    return unauthenticated(
      'the token is refused: its signature or form is not as it must be',
      'get a new one from its issuer',
    );
  }
  return error;
}
