import type { Config } from '../../config/config.ts';
import { quoteValue } from '../../config/given-value.ts';
import { loadConfig } from '../../config/load-config.ts';
import { UsageError } from '../../config/usage-error.ts';
import { countLevels, type Finding, findingLine, inOrder, levels, notOk, ok } from '../../doctor/finding.ts';
import { printable } from '../framework/command-failure.ts';
import type { Environment } from '../framework/environment.ts';
import { exposure } from './exposure.ts';

/** `framehold doctor`: a line for each check and a sum; exit code 1 when a check fails. */
export async function doctor(environment: Environment, argv: readonly string[]): Promise<number> {
  const { isJson, rest } = takeJson(argv);
  const { config, configFile } = loadConfig({ ...environment, argv: rest });
  const abort = new AbortController();
  environment.onStopSignal(() => abort.abort());
  const { examineMachine } = await environment.loadDoctor();
  let examined: readonly Finding[];
  try {
    examined = await examineMachine(config, { signal: abort.signal });
  } catch (error) {
    if (!abort.signal.aborted) throw error;
    environment.stderr.write('framehold: stopped before everything was checked\n');
    return 1;
  }
  const file = ok('config', configFile ?? 'no config file: flags, environment and defaults');
  const findings = inOrder([file, ...examined, security(config)]);
  const counts = countLevels(findings);
  if (isJson) {
    environment.stdout.write(`${JSON.stringify({ checks: findings, summary: counts }, null, 2)}\n`);
  } else {
    const lines = findings.map((finding) => `${printable(findingLine(finding))}\n`);
    const sum = levels.map((level) => `${counts[level]} ${level}`).join(', ');
    environment.stdout.write(`${lines.join('')}${findings.length} checks: ${sum}\n`);
  }
  return counts.fail > 0 ? 1 : 0;
}

/** The one flag that is no setting. */
function takeJson(argv: readonly string[]): { readonly isJson: boolean; readonly rest: readonly string[] } {
  const valued = argv.find((each) => each.startsWith('--json='));
  if (valued !== undefined) throw new UsageError(`--json takes no value; leave out ${quoteValue(valued.slice(7))}`);
  return { isJson: argv.includes('--json'), rest: argv.filter((each) => each !== '--json') };
}

function security(config: Config): Finding {
  const { server, http } = config;
  const exposed = exposure([http.bindAddress, { host: server.grpcHost, port: server.grpcPort }], config);
  if (exposed !== undefined) return notOk('warn', 'security', exposed.found, exposed.meaning, exposed.remedy);
  return ok('security', config.auth.enabled ? 'callers show who they are' : 'only this machine reaches the server');
}
