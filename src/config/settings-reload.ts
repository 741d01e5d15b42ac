import type { Logger } from '../core/logger.ts';
import type { Config } from './config.ts';
import type { LoadedConfig } from './load-config.ts';
import { planReload, type SettingInForce } from './reload-plan.ts';
import { UsageError } from './usage-error.ts';

/** What is reloaded. */
export interface ReloadTarget {
  /** Takes over the settings that can be reloaded, all of them. */
  applySettings(config: Config): void;
  /** Looks again at the files that the settings name. Tells its own failures. */
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

  /** Resolves when a reload has ended that began after this call. One at a time; those that wait become one. */
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
    // Whoever rotates the audit file waits for it, whatever the settings are.
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
