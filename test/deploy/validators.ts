import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { pythonEnvironment } from '../support/python-environment.ts';

const run = promisify(execFile);

const requirements = fileURLToPath(new URL('requirements.txt', import.meta.url));

/** The folder of hadolint, check-jsonschema, kubernetes-validate and a Python that reads YAML. Throws Missing. */
export async function validators(): Promise<string> {
  const name = 'deployment-validators';
  return join(await pythonEnvironment({ what: 'what checks deployment files', name, requirements }), 'bin');
}

const toJson =
  'import json, sys, yaml; print(json.dumps([list(yaml.safe_load_all(open(path))) for path in sys.argv[1:]]))';

/** The documents of each file. */
export async function readYaml(folder: string, paths: readonly string[]): Promise<readonly (readonly unknown[])[]> {
  const { stdout } = await run(join(folder, 'python'), ['-c', toJson, ...paths]);
  return JSON.parse(stdout) as unknown[][];
}
