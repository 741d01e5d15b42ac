import { hash, type X509Certificate } from 'node:crypto';
import {
  type Caller,
  defaultTenant,
  type Identify,
  isTenant,
  type Principal,
  type Tenant,
} from '../core/callers/principal.ts';
import { AppError } from '../core/errors/app-error.ts';
import { LruMap } from '../core/system/lru-map.ts';
import type { AccessRecords } from './access-records.ts';
import { type CertificateRule, identifyCertificate, isMapped } from './certificate-mapping.ts';
import { type Credential, readCredential, unauthenticated } from './credentials.ts';
import { type Issuer, namedIssuer } from './issuer.ts';
import { looksLikeSessionToken, type SessionTokens } from './session-tokens.ts';
import { noSuchTenant } from './tenant-record.ts';
import { isWellFormed, looksLikeToken } from './token.ts';

/** Rules for callers without a token of this server. */
export interface AuthRules {
  readonly issuers: readonly Pick<Issuer, 'issuer' | 'verify'>[];
  readonly certificates: readonly CertificateRule[];
  /** The tenant whose frames strangers may read. Undefined: none. */
  readonly anonymousTenant: Tenant | undefined;
}

export interface AuthenticatorOptions extends AuthRules {
  readonly records: AccessRecords;
  /** Tokens that a Handshake gives to callers with certificates. */
  readonly sessions: Pick<SessionTokens, 'verify'>;
  readonly now?: () => number;
}

const dayMs = 24 * 60 * 60 * 1000;
/** Most cached credentials: an uncached JWT costs a signature. */
const mostRemembered = 10_000;
/** Then a JWT is verified anew: its issuer may have revoked the key. */
const jwtTrustMs = 10 * 60_000;

interface Remembered {
  readonly principal: Principal;
  readonly until: number;
}

/** Makes principals of credentials. Verified ones are cached until the access records or the rules change. */
export class Authenticator {
  readonly #options: AuthenticatorOptions;
  readonly #now: () => number;
  #known = new LruMap<Remembered>(mostRemembered);
  #dayEndsAt = 0;
  #rules: AuthRules;
  #holders = new WeakMap<X509Certificate, Principal | 'unmapped'>();

  constructor(options: AuthenticatorOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
    this.#rules = options;
    options.records.onChange(() => {
      this.#known = new LruMap(mostRemembered);
    });
  }

  /** Replaces the rules: results of the old ones are forgotten. */
  replaceRules(rules: AuthRules): void {
    this.#rules = rules;
    this.#known = new LruMap(mostRemembered);
    this.#holders = new WeakMap();
  }

  readonly identify: Identify = (caller) => {
    const credential = readCredential(caller.headers, caller.rawHeaders);
    const key = credential === undefined ? undefined : hash('sha256', credential.secret, 'base64');
    const now = this.#now();
    if (now >= this.#dayEndsAt) this.#beginDay(now);
    const known = key === undefined ? undefined : this.#known.get(key);
    if (known !== undefined && known.until > now) {
      this.#checkHolder(known.principal, caller);
      return this.#acting(known.principal, caller);
    }
    return this.#verify(caller, credential, key);
  };

  /** Each token is verified once a day at least, which notes that it is used. */
  #beginDay(now: number): void {
    this.#known = new LruMap(mostRemembered);
    this.#dayEndsAt = (Math.floor(now / dayMs) + 1) * dayMs;
  }

  async #verify(caller: Caller, credential: Credential | undefined, key: string | undefined): Promise<Principal> {
    if (credential === undefined || key === undefined) {
      const holder = this.#holder(caller);
      if (holder === 'unmapped') {
        throw new AppError('forbidden', 'your client certificate is mapped to nobody', {
          hint: 'let the operator look at [auth.certificates], or send a token',
        });
      }
      const principal = holder ?? this.#anonymous();
      if (principal !== undefined) {
        await this.#checkTenant(principal);
        return this.#acting(await this.#limited(principal), caller);
      }
      throw unauthenticated('no credentials were sent', 'send Authorization: Bearer <token>');
    }
    // A credential that was verified before a change of the records or the rules must not be cached after it.
    const known = this.#known;
    const principal = await this.#limited(await this.#verifySecret(credential.secret));
    known.set(key, { principal, until: this.#trustedUntil(principal) });
    this.#checkHolder(principal, caller);
    return this.#acting(principal, caller);
  }

  #anonymous(): Principal | undefined {
    const { anonymousTenant: tenant } = this.#rules;
    return tenant === undefined ? undefined : { tenant, name: 'anonymous', role: 'read', credential: 'anonymous' };
  }

  #trustedUntil({ credential, expiresAt = Infinity }: Principal): number {
    return credential === 'jwt' ? Math.min(expiresAt, this.#now() + jwtTrustMs) : expiresAt;
  }

  /** A token beside a certificate gives the caller's name, which must be of the certificate's tenant. */
  #checkHolder(principal: Principal, caller: Caller): void {
    const holder = this.#holder(caller);
    if (holder === undefined || holder === 'unmapped' || holder.tenant === principal.tenant) return;
    if (holder.role === 'operator' || principal.role === 'operator') return;
    throw new AppError('forbidden', 'your client certificate and your token are of different tenants');
  }

  #holder({ certificate }: Caller): Principal | 'unmapped' | undefined {
    if (certificate === undefined) return undefined;
    const known = this.#holders.get(certificate) ?? this.#readHolder(certificate);
    this.#holders.set(certificate, known);
    // A connection may last longer than the certificate that it was opened with.
    if (known !== 'unmapped' && (known.expiresAt ?? Infinity) <= this.#now()) {
      throw unauthenticated('your client certificate has expired', 'connect again with a new one');
    }
    return known;
  }

  #readHolder(certificate: X509Certificate): Principal | 'unmapped' {
    const identity = identifyCertificate(certificate, this.#rules.certificates);
    if (identity === undefined) return 'unmapped';
    return {
      ...identity,
      credential: 'certificate',
      credentialId: certificate.fingerprint256.replaceAll(':', '').slice(0, 16).toLowerCase(),
      expiresAt: Date.parse(certificate.validTo),
    };
  }

  async #verifySecret(secret: string): Promise<Principal> {
    if (looksLikeToken(secret)) return await this.#verifyToken(secret);
    if (looksLikeSessionToken(secret)) return await this.#verifySession(secret);
    if (secret.split('.').length === 3) return await this.#verifyJwt(secret);
    throw unauthenticated(
      'the credential is neither a token of this server nor a JWT',
      'a token begins with fh_; send it whole',
    );
  }

  async #verifyToken(token: string): Promise<Principal> {
    if (!isWellFormed(token))
      throw unauthenticated('the token is mistyped or cut: its checksum is wrong', 'copy it again, whole');
    const { records } = this.#options;
    const record = await records.findToken(token);
    if (record === undefined)
      throw unauthenticated('the token is unknown or revoked', 'ask an admin of your tenant for another one');
    const { id, name, tenant, role, prefix, expiresAt } = record;
    if (expiresAt !== undefined && expiresAt <= this.#now()) {
      throw unauthenticated(
        `the token expired at ${new Date(expiresAt).toISOString()}`,
        'ask an admin of your tenant for another one',
      );
    }
    records.noteUse(id);
    return { tenant: tenant ?? defaultTenant, name, role, prefix, credential: 'token', credentialId: id, expiresAt };
  }

  async #verifySession(token: string): Promise<Principal> {
    const claims = await this.#options.sessions.verify(token);
    const hint = 'connect again with your certificate';
    if (claims === undefined) throw unauthenticated('the session token is not of this server', hint);
    if (claims.expiresAt <= this.#now()) {
      throw unauthenticated('the session token has expired with its certificate', 'connect again with a new one');
    }
    if (!isMapped(claims, this.#rules.certificates)) {
      throw unauthenticated('the session token is of a certificate that no rule names any more', hint);
    }
    await this.#checkTenant(claims);
    return { ...claims, credential: 'certificate' };
  }

  async #verifyJwt(jwt: string): Promise<Principal> {
    const named = namedIssuer(jwt);
    const issuer = this.#rules.issuers.find((each) => each.issuer === named);
    if (issuer === undefined)
      throw unauthenticated('the JWT is of an issuer that is not known here', 'use one of a configured issuer');
    const identity = await issuer.verify(jwt);
    await this.#checkTenant(identity);
    return {
      ...identity,
      credential: 'jwt',
      credentialId: hash('sha256', jwt).slice(0, 12),
    };
  }

  async #checkTenant({ tenant }: Pick<Principal, 'tenant'>): Promise<void> {
    if (await this.#options.records.hasTenant(tenant)) return;
    throw new AppError('forbidden', 'your credential is good, but its tenant is not made here', {
      hint: 'let the operator make it with framehold tenant create',
    });
  }

  async #limited(principal: Principal): Promise<Principal> {
    return { ...principal, limits: await this.#options.records.limitsOf(principal.tenant) };
  }

  /** An operator acts in the tenant that a header names. */
  #acting(principal: Principal, { headers }: Caller): Principal | Promise<Principal> {
    const named = headers['x-framehold-tenant'];
    if (named === undefined || named === principal.tenant) return principal;
    if (principal.role !== 'operator') {
      throw new AppError('forbidden', 'only an operator may act in another tenant', {
        hint: 'leave out X-Framehold-Tenant',
      });
    }
    return this.#actingIn(principal, String(named));
  }

  async #actingIn(principal: Principal, name: string): Promise<Principal> {
    if (!isTenant(name) || !(await this.#options.records.hasTenant(name))) throw noSuchTenant(name);
    return this.#limited({ ...principal, tenant: name });
  }
}
