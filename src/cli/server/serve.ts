import { join } from 'node:path';
import { sleep } from '@framehold/async';
import type { Config } from '../../config/config.ts';
import { formatAddress, isWildcard, type ListenAddress } from '../../config/listen-address.ts';
import { type LoadedConfig, loadConfig } from '../../config/load-config.ts';
import { type ReloadTarget, SettingsReload } from '../../config/settings-reload.ts';
import { UsageError } from '../../config/usage-error.ts';
import type { Logger } from '../../core/logs/logger.ts';
import { createLogger, type RootLogger } from '../../telemetry/logger.ts';
import type { Environment } from '../framework/environment.ts';
import type { RunningServer } from '../framework/server-module.ts';
import { exposure } from './exposure.ts';
import { openServiceNotify, type ServiceNotify } from './service-notify.ts';
import { startFailure } from './start-failure.ts';

/** Time of a clean stop beyond the delay and the grace period of requests. */
const stopMarginMs = 2000;

/** `framehold server`: serves until a signal stops it. */
export async function serve(environment: Environment, argv: readonly string[]): Promise<number> {
  const load = (): LoadedConfig => loadConfig({ ...environment, argv });
  const loaded = load();
  const { filter, format } = loaded.config.logging;
  const logger = createLogger({ stream: environment.stderr, filter, format, colour: environment.stderrIsTerminal });
  const reload = new SettingsReload(loaded, load, logger);
  environment.onFatal((what, error) => logger.error(what, { error }));
  const stopSignal = new Promise<string>((resolve) => environment.onStopSignal(resolve));
  using notify = openServiceNotify(environment, logger);

  const finished = new AbortController();
  try {
    return await Promise.race([
      serveUntil(stopSignal, environment, reload, logger, notify),
      overdue(stopSignal, environment, reload, notify, finished.signal),
    ]);
  } finally {
    finished.abort();
  }
}

async function serveUntil(
  stopSignal: Promise<string>,
  environment: Environment,
  reload: SettingsReload,
  logger: RootLogger,
  notify: ServiceNotify,
): Promise<number> {
  const { config } = reload;
  const { startServer } = await environment.loadServer(config);
  let server: RunningServer;
  try {
    server = await startServer(config, logger, { shown: () => reload.shown });
  } catch (error) {
    if (error instanceof UsageError) throw error;
    logger.debug('could not start', { error });
    environment.stderr.write(`framehold: ${startFailure(error, config)}\n`);
    return 1;
  }
  environment.onReloadSignal(() => void reload.run(withLog(server, logger)));
  environment.stdout.write(banner(server, config, environment.version));
  notify.ready(`serving ${formatAddress(server.httpAddress)} (HTTP) and ${formatAddress(server.grpcAddress)} (gRPC)`);
  warnIfOpen(server, config, logger);
  const signal = await stopSignal;
  environment.onReloadSignal(() => {});
  logger.info('stopping', { signal });
  await server[Symbol.asyncDispose]();
  logger.info('stopped');
  return 0;
}

/** The log is not the server's own. */
function withLog({ applySettings, rereadFiles }: ReloadTarget, logger: RootLogger): ReloadTarget {
  return {
    applySettings: (config) => {
      logger.configure({ filter: config.logging.filter, format: config.logging.format });
      applySettings(config);
    },
    rereadFiles,
  };
}

/** Resolves when a stop has taken too long. */
async function overdue(
  stopSignal: Promise<string>,
  environment: Environment,
  reload: SettingsReload,
  notify: ServiceNotify,
  finished: AbortSignal,
): Promise<number> {
  await stopSignal;
  const { shutdownDelayMs, shutdownGraceMs } = reload.config.server;
  const limitMs = shutdownDelayMs + shutdownGraceMs + stopMarginMs;
  notify.stopping(limitMs);
  try {
    await sleep(limitMs, finished);
  } catch {
    return 0;
  }
  environment.stderr.write(
    `framehold: not stopped after ${limitMs / 1000} s (server.shutdown_delay, server.shutdown_grace and ${stopMarginMs / 1000} s more); ending now\n`,
  );
  return 1;
}

function warnIfOpen({ httpAddress, grpcAddress }: RunningServer, config: Config, logger: Logger): void {
  const exposed = exposure([httpAddress, grpcAddress], config);
  if (exposed !== undefined) logger.warn(`${exposed.found}: ${exposed.meaning}; ${exposed.remedy}`);
}

/** Printed by the server once both listeners accept. */
function banner({ httpAddress, grpcAddress, frameCount }: RunningServer, config: Config, version: string): string {
  const { dataDir, parquetPath } = config.storage;
  const isTls = config.tls.certFile !== undefined;
  const http = isTls ? 'https' : 'http';
  const base = `${http}://${formatAddress(reachable(httpAddress))}`;
  const hasDemo = config.frames.demo;
  const path = hasDemo ? '/exec?handle=trades&fmt=json&limit=3' : '/ping';
  const token = hasDemo && config.auth.enabled ? '-H "Authorization: Bearer $FRAMEHOLD_TOKEN" ' : '';
  const rows = [
    ['HTTP', `${http}://${formatAddress(httpAddress)}`],
    ['gRPC', `${isTls ? 'grpc+tls' : 'grpc'}://${formatAddress(grpcAddress)}`],
    ['data', dataDir],
    ...(parquetPath === join(dataDir, 'cold') ? [] : [['cold', parquetPath]]),
    ['frames', String(frameCount)],
    ...(config.http.console ? [['open', `${base}/`]] : []),
    ['try', `curl ${token}'${base}${path}'`],
  ];
  return `Framehold ${version}\n${rows.map(([name = '', value]) => `  ${name.padEnd(6)}  ${value}\n`).join('')}`;
}

/** A wildcard can be bound to, but not everywhere connected to. */
function reachable({ host, port }: ListenAddress): ListenAddress {
  return isWildcard(host) ? { host: host === '::' ? '::1' : '127.0.0.1', port } : { host, port };
}
