import { loadConfig } from '../../config/load-config.ts';
import type { Environment } from '../framework/environment.ts';

/** `framehold config`: every setting, its value (secrets masked), and the value's source. */
export async function printConfig(environment: Environment, argv: readonly string[]): Promise<number> {
  const { settings, configFile } = loadConfig({ ...environment, argv });
  const rows = settings.map(({ key, shown, origin, reload }) => {
    return [key, shown ?? '(unset)', reload ? `${origin} (reload)` : origin] as const;
  });
  const keyWidth = Math.max(...rows.map(([key]) => key.length));
  const valueWidth = Math.max(...rows.map(([, value]) => value.length));
  const lines = rows.map(([key, value, origin]) => `${key.padEnd(keyWidth)}  ${value.padEnd(valueWidth)}  ${origin}\n`);
  environment.stdout.write(
    `${lines.join('')}\n(reload): a change is applied on SIGHUP\nconfig file: ${configFile ?? 'none'}\n`,
  );
  return 0;
}
