import { hash } from 'node:crypto';
import { resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { AuditLog } from '../audit/audit-log.ts';
import { AccessRecords } from '../auth/access-records.ts';
import type { AuthRules } from '../auth/authenticator.ts';
import { FailedLogins } from '../auth/failed-logins.ts';
import { FrameAccess } from '../auth/frame-access.ts';
import { identify } from '../auth/identify.ts';
import type { IssuerLogin } from '../auth/issuer.ts';
import { RateLimiter } from '../auth/rate-limiter.ts';
import { SessionTokens } from '../auth/session-tokens.ts';
import { shareName } from '../auth/share-records.ts';
import type { Config } from '../config/config.ts';
import type { Cleanup } from '../core/async/cleanup.ts';
import { CredentialWatch } from '../core/callers/credential-watch.ts';
import type { Identify, Principal, Tenant } from '../core/callers/principal.ts';
import type { Logger } from '../core/logs/logger.ts';
import { mayUseEngine, tsdbEngineName } from '../core/names/engine-names.ts';
import { analyticsCatalog } from '../core/sql/sql.ts';
import type { ReachOf } from '../engines/duckdb/worker-owners.ts';
import { DurableFiles } from '../frames/disk/durable-file.ts';
import type { Frames } from '../frames/frames.ts';
import type { FrameStore } from '../frames/store.ts';

export interface Access {
  /** As callers may see and change them. */
  readonly frames: Frames;
  readonly identify: Identify;
  /** Throws where the caller has sent too many requests. */
  readonly admit?: (principal: Principal) => void;
  /** Undefined while there is no authentication. */
  readonly records: AccessRecords | undefined;
  readonly sessionTokens?: SessionTokens;
  /** The kinds that callers may show. */
  readonly credentials: () => readonly string[];
  /** The logins by browser. */
  readonly logins: () => readonly IssuerLogin[];
  /** Undefined while there is no authentication. */
  readonly watch: CredentialWatch | undefined;
  /** Other rules for callers from now on. */
  readonly applySettings: (auth: Config['auth']) => void;
}

/** Undefined while there is no authentication. */
export async function openRecords(
  { auth, storage }: Config,
  cleanup: Cleanup,
  logger: Logger,
): Promise<AccessRecords | undefined> {
  if (!auth.enabled) return undefined;
  const records = await AccessRecords.open(resolve(storage.parquetPath), new DurableFiles());
  cleanup.defer(() => records[Symbol.dispose]());
  records.watch(logger.area('auth'));
  return records;
}

export async function openAudit({ audit }: Config, logger: Logger): Promise<AuditLog | undefined> {
  const { file: path, onFailure = 'refuse' } = audit;
  return path === undefined ? undefined : AuditLog.open({ path, onFailure, logger: logger.area('audit') });
}

export async function openAccess(
  { auth, storage }: Config,
  store: FrameStore,
  records: AccessRecords | undefined,
  cleanup: Cleanup,
  logger: Logger,
): Promise<Access> {
  if (records === undefined)
    return {
      frames: new FrameAccess(store),
      identify,
      records,
      credentials: () => [],
      logins: () => [],
      watch: undefined,
      applySettings: () => {},
    };
  // Loaded where they are needed: the verifier of JWTs is large.
  const { Authenticator } = await import('../auth/authenticator.ts');
  const { Issuer } = await import('../auth/issuer.ts');
  const sessionTokens = new SessionTokens(resolve(storage.parquetPath), new DurableFiles());
  const keys = { maxStaleMs: auth.jwksMaxStaleMs, logger: logger.area('auth') };
  const logins = new FailedLogins({ maxPerMinute: auth.maxFailedLogins, logger: logger.area('auth') });
  cleanup.defer(() => logins[Symbol.dispose]());
  let issuers: readonly InstanceType<typeof Issuer>[] = [];
  const rulesOf = ({ issuers: wanted, certificates, anonymous }: Config['auth']) => {
    issuers = [...wanted].map(([name, config]) => {
      const settings = { ...config, name };
      // An unchanged issuer keeps its keys: it may be down just now.
      return issuers.find((issuer) => isDeepStrictEqual(issuer.settings, settings)) ?? new Issuer(settings, keys);
    });
    const rules = [...certificates].map(([name, rule]) => ({ ...rule, name }));
    return { issuers, certificates: rules, anonymousTenant: anonymous };
  };
  let rules = rulesOf(auth);
  const authenticator = new Authenticator({ records, sessions: sessionTokens, ...rules });
  const watch = new CredentialWatch(authenticator.identify);
  cleanup.defer(() => watch[Symbol.dispose]());
  const rates = new RateLimiter();
  return {
    frames: new FrameAccess(store, records),
    records,
    sessionTokens,
    credentials: () => credentialKinds(rules),
    logins: () => issuers.flatMap(({ login }) => login ?? []),
    watch,
    identify: logins.limit(authenticator.identify),
    admit: (principal) => rates.count(principal),
    applySettings: (changed) => {
      logins.maxPerMinute = changed.maxFailedLogins;
      rules = rulesOf(changed);
      authenticator.replaceRules(rules);
    },
  };
}

function credentialKinds({ issuers, certificates }: Pick<AuthRules, 'issuers' | 'certificates'>): readonly string[] {
  return ['token', ...(issuers.length > 0 ? ['jwt'] : []), ...(certificates.length > 0 ? ['certificate'] : [])];
}

/** The files that the processes of a tenant may read. Undefined while there is only one tenant. */
export function tenantReach(store: FrameStore, records: AccessRecords | undefined): ReachOf | undefined {
  if (records === undefined) return undefined;
  const shared = new Map<Tenant, string>();
  records.onChange(() => shared.clear());
  const sharedWith = (tenant: Tenant): string => {
    const known = shared.get(tenant) ?? hash('sha256', records.shares.withReader(tenant).map(shareName).sort().join());
    shared.set(tenant, known);
    return known;
  };
  return async (tenant) => {
    const limits = await records.limitsOf(tenant);
    return {
      linksFolder: await store.linksFolder(tenant),
      hasAnalytics: mayUseEngine({ limits }, analyticsCatalog),
      hasLive: mayUseEngine({ limits }, tsdbEngineName),
      shared: sharedWith(tenant),
    };
  };
}
