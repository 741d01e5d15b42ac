import { execFile } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Missing } from '../../support/missing.ts';
import { pythonEnvironment } from '../../support/python-environment.ts';

export interface ClusterVenv {
  readonly python: string;
  readonly sail: string;
  readonly tpchgen: string;
  /** Of the Spark inside the package. */
  readonly sparkHome: string;
}

const requirements = fileURLToPath(new URL('../requirements.txt', import.meta.url));

/** A virtual environment of Python with Spark and Sail, fetched once on this machine. Throws Missing. */
export async function clusterVenv(): Promise<ClusterVenv> {
  const folder = await pythonEnvironment({ what: 'Spark and Sail', name: 'cluster', requirements });
  return {
    python: join(folder, 'bin', 'python'),
    sail: join(folder, 'bin', 'sail'),
    tpchgen: join(folder, 'bin', 'tpchgen-cli'),
    sparkHome: join(await packagesOf(folder), 'pyspark'),
  };
}

/** Throws Missing where there is no Java that runs Spark. */
export async function needJava(): Promise<void> {
  const home = process.env.JAVA_HOME;
  const java = home ? join(home, 'bin', 'java') : 'java';
  const { stderr } = await promisify(execFile)(java, ['-version']).catch(() => ({ stderr: '' }));
  if (Number(/version "(\d+)/.exec(stderr)?.[1] ?? 0) < 17) {
    throw new Missing('there is no java (17 or later) on the PATH or in JAVA_HOME');
  }
}

async function packagesOf(folder: string): Promise<string> {
  const [version = ''] = await readdir(join(folder, 'lib'));
  return join(folder, 'lib', version, 'site-packages');
}
