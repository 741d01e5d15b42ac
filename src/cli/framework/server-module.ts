import type { Tenant, TenantChange, Token, TokenRequest } from '#client/administration.ts';
import type { Config } from '../../config/config.ts';
import type { ListenAddress } from '../../config/listen-address.ts';
import type { ReloadTarget, SettingsReload } from '../../config/settings-reload.ts';
import type { Logger } from '../../core/logs/logger.ts';
import type { Finding } from '../../doctor/finding.ts';

export interface RunningServer extends AsyncDisposable, ReloadTarget {
  /** The bound addresses of the listeners. */
  readonly httpAddress: ListenAddress;
  readonly grpcAddress: ListenAddress;
  readonly frameCount: number;
}

export type StartServer = (
  config: Config,
  logger: Logger,
  options: { readonly shown: () => SettingsReload['shown'] },
) => Promise<RunningServer>;

/** The tokens of a data directory, without a server. */
export interface TokenRegistry {
  create(request: TokenRequest): Promise<string>;
  list(): Promise<readonly Token[]>;
  /** False where there is none. */
  revoke(id: string): Promise<boolean>;
  /** Undefined where there is none. */
  rotate(id: string, overlapMs: number): Promise<string | undefined>;
}

export type OpenTokens = (config: Config) => Promise<TokenRegistry>;

/** The tenants of a data directory, without a server. */
export interface TenantRegistry {
  create(name: string, change: TenantChange): Promise<Tenant>;
  set(name: string, change: TenantChange): Promise<Tenant>;
  list(): Promise<readonly Tenant[]>;
  remove(name: string): Promise<void>;
}

export type OpenTenants = (config: Config) => Promise<TenantRegistry>;

export type VerifyFrames = (
  config: Config,
  logger: Logger,
  options: { readonly signal: AbortSignal },
) => AsyncIterable<
  | {
      readonly tenant: string;
      readonly handle: string;
      readonly fault: string | undefined;
      readonly isChecksummed: boolean;
    }
  | { readonly tenant: string; readonly definition: string }
>;

/** Rejects where the signal aborts; nothing that it made is left then. */
export type ExamineMachine = (config: Config, options: { readonly signal: AbortSignal }) => Promise<readonly Finding[]>;

/** Undefined for files that are no frames. */
export interface NamedFrame {
  readonly tenant: string;
  readonly handle: string;
}

export interface StorageFault {
  readonly frame: NamedFrame | undefined;
  readonly reason: string;
}

export type RepairStorage = (
  config: Config,
  logger: Logger,
  options: { readonly signal: AbortSignal },
) => Promise<{
  readonly leftovers: number;
  readonly cacheBlocks: number;
  readonly adopted: readonly NamedFrame[];
}>;

export type BackupStorage = (
  config: Config,
  logger: Logger,
  options: { readonly destination: string; readonly keep: number | undefined; readonly signal: AbortSignal },
) => Promise<{
  readonly path: string;
  readonly frames: number;
  readonly bytes: number;
  readonly copiedBytes: number;
  readonly removed: number;
  readonly faults: readonly StorageFault[];
  readonly ms: number;
}>;

export type RestoreStorage = (
  config: Config,
  options: { readonly source: string; readonly signal: AbortSignal },
) => Promise<{
  readonly backup: string;
  readonly frames: number;
  readonly bytes: number;
  readonly faults: readonly StorageFault[];
  readonly leftOut: readonly StorageFault[];
  readonly ms: number;
}>;
