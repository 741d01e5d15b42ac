import type { Logger } from '../core/logs/logger.ts';
import type { Config } from './config.ts';
import type { LoadedConfig } from './load-config.ts';
import { planReload, type SettingInForce } from './reload-plan.ts';
import { UsageError } from './usage-error.ts';

/** The parts to reload. */
export interface ReloadTarget {
  /** Takes over the settings that can be reloaded, all of them. */
  applySettings(config: Config): void;
  /** Reads the files that the settings name again. Reports its own failures. */
  rereadFiles(): Promise<void>;
}

/** The settings in force, and how they become others while the server runs. */
export class SettingsReload {
  readonly #load: () => LoadedConfig;
  readonly #logger: Logger;
  #running: LoadedConfig;
  #settings: readonly SettingInForce[];
  #last: Promise<void> = Promise.resolve();
  #next: Promise<void> | undefined;

  /** `load`: as the start did. */
  constructor(running: LoadedConfig, load: () => LoadedConfig, logger: Logger) {
    this.#running = running;
    this.#settings = running.settings.map((setting) => ({ ...setting, needsRestart: false }));
    this.#load = load;
    this.#logger = logger;
  }

  get config(): Config {
    return this.#running.config;
  }

  /** For people. */
  get shown(): { readonly settings: readonly SettingInForce[]; readonly configFile: string | undefined } {
    return { settings: this.#settings, configFile: this.#running.configFile };
  }

  /** Resolves when a reload has ended that began after this call. One at a time; waiting ones become one. */
  run(target: ReloadTarget): Promise<void> {
    if (this.#next === undefined) {
      this.#next = this.#last.then(() => {
        this.#next = undefined;
        return this.#reload(target);
      });
      this.#last = this.#next;
    }
    return this.#next;
  }

  async #reload(target: ReloadTarget): Promise<void> {
    try {
      this.#reloadSettings(target);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      this.#logger.error(`the settings could not be loaded again; the old ones stay: ${reason}`, {
        ...(!(error instanceof UsageError) && { error }),
      });
    }
    // A rotation of the audit file needs it, even if the settings are invalid.
    await target
      .rereadFiles()
      .catch((error: unknown) =>
        this.#logger.error('the files that the settings name could not be read again', { error }),
      );
  }

  #reloadSettings(target: ReloadTarget): void {
    const found = this.#load();
    const { config, settings, reloaded, needRestart, conflict } = planReload(this.#running, found);
    target.applySettings(config);
    this.#running = { config, settings, configFile: found.configFile };
    this.#settings = settings;
    this.#logger.info('reloaded', { settings: reloaded });
    if (needRestart.length === 0) return;
    this.#logger.warn('settings that changed need a restart', { settings: needRestart, because: conflict });
  }
}
