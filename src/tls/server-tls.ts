import { stat } from 'node:fs/promises';
import type { SecureContextOptions } from 'node:tls';
import type { Logger } from '../core/logs/logger.ts';
import { type LoadedTls, loadTlsFiles, type TlsSettings } from './tls-files.ts';

const dayMs = 86_400_000;
const warnBeforeMs = 14 * dayMs;
/** A changed file is read when it stays the same for this long: a pair is written one file after the other. */
const pollMs = 500;

/** The certificate of the listeners, loaded again when one of its files changes. */
export class ServerTls implements Disposable {
  readonly clientAuth: TlsSettings['clientAuth'];
  readonly #settings: TlsSettings;
  readonly #logger: Logger;
  readonly #listeners = new Set<(context: SecureContextOptions) => void>();
  readonly #timers: readonly NodeJS.Timeout[];
  #loaded: LoadedTls;
  #loadedStamp: string;
  #seenStamp: string;
  #isChecking = false;
  #reloading: Promise<void> = Promise.resolve();

  private constructor(settings: TlsSettings, loaded: LoadedTls, stamp: string, logger: Logger) {
    this.clientAuth = settings.clientAuth;
    this.#settings = settings;
    this.#loaded = loaded;
    this.#loadedStamp = this.#seenStamp = stamp;
    this.#logger = logger;
    this.#timers = [
      setInterval(() => void this.#check(), pollMs).unref(),
      setInterval(() => this.#warnOfEnd(), dayMs).unref(),
    ];
  }

  /** Throws a UsageError where a file cannot be used. */
  static async open(settings: TlsSettings, logger: Logger): Promise<ServerTls> {
    // Before the files are read: a change in between is then seen.
    const stamp = await stampOf(settings);
    const tls = new ServerTls(settings, await loadTlsFiles(settings), stamp, logger);
    tls.#warnOfEnd();
    if (lacksTlsFixes(process.versions.node)) {
      logger.warn(`Node.js ${process.versions.node} lacks fixes of TLS: clients may crash the server`, {
        hint: 'use 20.20.2, 22.22.2, 24.14.1 or later',
      });
    }
    return tls;
  }

  /** The complete set of options. */
  get context(): SecureContextOptions {
    return this.#loaded.context;
  }

  /** Calls back with the complete set of options after each change. Returns a function that ends that. */
  onChange(listener: (context: SecureContextOptions) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Loads the files now. Unusable files change nothing. One at a time: an older load must not end last. */
  reload(): Promise<void> {
    this.#reloading = this.#reloading.then(() => this.#reload());
    return this.#reloading;
  }

  async #reload(): Promise<void> {
    const stamp = await stampOf(this.#settings);
    this.#seenStamp = this.#loadedStamp = stamp;
    try {
      this.#loaded = await loadTlsFiles(this.#settings);
      for (const listener of this.#listeners) listener(this.#loaded.context);
      this.#logger.info('the certificate was loaded again', { ends: this.#loaded.certificate.validTo });
      this.#warnOfEnd();
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      this.#logger.error(`the certificate could not be loaded again; the old one stays: ${reason}`);
    }
  }

  [Symbol.dispose](): void {
    for (const timer of this.#timers) clearInterval(timer);
    this.#listeners.clear();
  }

  async #check(): Promise<void> {
    if (this.#isChecking) return;
    this.#isChecking = true;
    try {
      const stamp = await stampOf(this.#settings);
      const isStable = stamp === this.#seenStamp;
      this.#seenStamp = stamp;
      if (isStable && stamp !== this.#loadedStamp) await this.reload();
    } finally {
      this.#isChecking = false;
    }
  }

  #warnOfEnd(): void {
    const { validTo } = this.#loaded.certificate;
    const leftMs = Date.parse(validTo) - Date.now();
    if (leftMs > warnBeforeMs) return;
    const file = this.#settings.certFile;
    if (leftMs <= 0) this.#logger.warn('the certificate has ended: clients refuse it', { ended: validTo, file });
    else this.#logger.warn(`the certificate ends in ${Math.ceil(leftMs / dayMs)} days`, { ends: validTo, file });
  }
}

/** Changes with every file. Followed through links: Kubernetes changes a link to the folder of the files. */
async function stampOf({ certFile, keyFile, clientCaFile, crlFile }: TlsSettings): Promise<string> {
  const files = [certFile, keyFile, clientCaFile, crlFile].filter((file) => file !== undefined);
  const stamps = files.map(async (file) => {
    try {
      const { ino, size, mtimeNs, ctimeNs } = await stat(file, { bigint: true });
      return [ino, size, mtimeNs, ctimeNs].join('.');
    } catch {
      return 'unreadable';
    }
  });
  return (await Promise.all(stamps)).join(' ');
}

const firstFixed: Readonly<Record<number, readonly [minor: number, patch: number]>> = {
  20: [20, 2],
  22: [22, 2],
  24: [14, 1],
};

/** Fixes of CVE-2025-59465, CVE-2026-21637 and CVE-2026-21714. */
export function lacksTlsFixes(nodeVersion: string): boolean {
  const [major = 0, minor = 0, patch = 0] = nodeVersion.split('.').map(Number);
  const fixed = firstFixed[major];
  if (fixed === undefined) return major < 24;
  return minor < fixed[0] || (minor === fixed[0] && patch < fixed[1]);
}
