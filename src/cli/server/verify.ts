import { loadConfig } from '../../config/load-config.ts';
import { AppError } from '../../core/app-error.ts';
import { createLogger } from '../../telemetry/logger.ts';
import type { Environment } from '../framework/environment.ts';

/** `framehold verify`: a line for each damaged frame and a sum; exit code 1 when there is any damage. */
export async function verify(environment: Environment, argv: readonly string[]): Promise<number> {
  const { config } = loadConfig({ ...environment, argv });
  const { filter, format } = config.logging;
  const logger = createLogger({ stream: environment.stderr, filter, format, colour: environment.stderrIsTerminal });
  const abort = new AbortController();
  environment.onStopSignal(() => abort.abort());
  const { verifyFrames } = await environment.loadStorage();
  let [sound, unsummed, damaged] = [0, 0, 0];
  try {
    for await (const { tenant, handle, fault, isChecksummed } of verifyFrames(config, logger, {
      signal: abort.signal,
    })) {
      const name = tenant === 'default' ? handle : `${tenant}/${handle}`;
      if (fault !== undefined) environment.stdout.write(`damaged  ${name}: ${fault}\n`);
      if (fault !== undefined) damaged++;
      else if (isChecksummed) sound++;
      else unsummed++;
    }
  } catch (error) {
    const reason = abort.signal.aborted ? 'stopped before everything was checked' : reasonOf(error);
    environment.stderr.write(`framehold: ${reason}\n`);
    return 1;
  }
  const readable = unsummed > 0 ? `, ${unsummed} from outside readable (no checksum)` : '';
  environment.stdout.write(`${config.storage.parquetPath}: ${sound} sound${readable}, ${damaged} damaged\n`);
  return damaged > 0 ? 1 : 0;
}

function reasonOf(error: unknown): string {
  if (!(error instanceof AppError)) throw error;
  return error.hint === undefined ? error.message : `${error.message}; ${error.hint}`;
}
