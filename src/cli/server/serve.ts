import type { Config } from '../../config/config.ts';
import { type LoadedConfig, loadConfig } from '../../config/load-config.ts';
import { UsageError } from '../../config/usage-error.ts';
import { sleep } from '../../core/async/limited-wait.ts';
import type { Logger } from '../../core/logger.ts';
import { createLogger } from '../../telemetry/logger.ts';
import type { Environment } from '../framework/environment.ts';
import type { RunningServer } from '../framework/server-module.ts';
import { banner } from './banner.ts';
import { exposure } from './exposure.ts';
import { startFailure } from './start-failure.ts';

/** What a clean stop may take beyond the delay and the grace that requests get. */
const stopMarginMs = 2000;

/** `framehold server`: serves until a signal stops it. */
export async function serve(environment: Environment, argv: readonly string[]): Promise<number> {
  const loaded = loadConfig({ ...environment, argv });
  const { config } = loaded;
  const { filter, format } = config.logging;
  const logger = createLogger({ stream: environment.stderr, filter, format, colour: environment.stderrIsTerminal });
  environment.onFatal((what, error) => logger.error(what, { error }));
  const stopSignal = new Promise<string>((resolve) => environment.onStopSignal(resolve));

  const finished = new AbortController();
  try {
    return await Promise.race([
      serveUntil(stopSignal, environment, loaded, logger),
      overdue(stopSignal, environment, config.server, finished.signal),
    ]);
  } finally {
    finished.abort();
  }
}

async function serveUntil(
  stopSignal: Promise<string>,
  environment: Environment,
  { config, ...shown }: LoadedConfig,
  logger: Logger,
): Promise<number> {
  const { startServer } = await environment.loadServer();
  let server: RunningServer;
  try {
    server = await startServer(config, logger, { shown });
  } catch (error) {
    if (error instanceof UsageError) throw error;
    logger.debug('could not start', { error });
    environment.stderr.write(`framehold: ${startFailure(error, config)}\n`);
    return 1;
  }
  if (server.reload !== undefined) environment.onReloadSignal(server.reload);
  environment.stdout.write(banner(server, config, environment.version));
  warnIfOpen(server, config, logger);
  const signal = await stopSignal;
  logger.info('stopping', { signal });
  await server[Symbol.asyncDispose]();
  logger.info('stopped');
  return 0;
}

/** Resolves when a stop has taken too long. */
async function overdue(
  stopSignal: Promise<string>,
  environment: Environment,
  { shutdownDelayMs, shutdownGraceMs }: Config['server'],
  finished: AbortSignal,
): Promise<number> {
  await stopSignal;
  const limitMs = shutdownDelayMs + shutdownGraceMs + stopMarginMs;
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
