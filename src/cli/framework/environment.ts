import type { Readable, Writable } from 'node:stream';
import type { Config } from '../../config/config.ts';
import type { ConfigSources } from '../../config/load-config.ts';
import type {
  BackupStorage,
  ExamineMachine,
  OpenTenants,
  OpenTokens,
  RepairStorage,
  RestoreStorage,
  StartServer,
  VerifyFrames,
} from './server-module.ts';

export interface Output {
  write(text: string): unknown;
}

/** The world outside, as the commands see it. Only main.ts knows the real one. */
export interface Environment extends Omit<ConfigSources, 'argv'> {
  readonly version: string;
  readonly pid: number;
  /** Opened on first use. */
  stdin(): Readable;
  readonly stdout: Writable;
  readonly stderr: Output;
  readonly stdinIsTerminal: boolean;
  readonly stdoutIsTerminal: boolean;
  /** Columns of the terminal, which may change while we run. */
  terminalWidth(): number;
  /** Calls back once, at the first SIGINT or SIGTERM; from then on a second one ends the process at once. */
  onStopSignal(listener: (signal: string) => void): void;
  /** Calls back at each SIGHUP, in place of an earlier listener; at once if one came before there was any. */
  onReloadSignal(listener: () => void): void;
  /** Reports uncaught errors, just before the process ends. */
  onFatal(report: (what: string, error: unknown) => void): void;
  /** All files that this process and its children make from then on have the permissions that the settings allow. */
  loadServer(config: Config): Promise<{ readonly startServer: StartServer }>;
  /** The data directory, for commands that work without a server; as above. */
  loadStorage(config: Config): Promise<{
    readonly verifyFrames: VerifyFrames;
    readonly openTokens: OpenTokens;
    readonly openTenants: OpenTenants;
    readonly repairStorage: RepairStorage;
    readonly backupStorage: BackupStorage;
    readonly restoreStorage: RestoreStorage;
  }>;
  loadDoctor(): Promise<{ readonly examineMachine: ExamineMachine }>;
}
