import type { Config } from '../../config/config.ts';
import type { ListenAddress } from '../../config/listen-address.ts';
import type { Logger } from '../../core/logger.ts';

export interface RunningServer extends AsyncDisposable {
  /** Where the listeners are really bound. */
  readonly httpAddress: ListenAddress;
  readonly grpcAddress: ListenAddress;
  readonly frameCount: number;
}

export type StartServer = (config: Config, logger: Logger) => Promise<RunningServer>;

export type VerifyFrames = (
  config: Config,
  logger: Logger,
  options: { readonly signal: AbortSignal },
) => AsyncIterable<{
  readonly tenant: string;
  readonly handle: string;
  readonly fault: string | undefined;
  readonly isChecksummed: boolean;
}>;
