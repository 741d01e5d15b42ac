import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { cached } from './cached.ts';

const plugin = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1';
const downloadMs = 240_000;

/** The path of a jar, fetched through Maven unless this machine has it already. */
export async function mavenJar(group: string, name: string, version: string): Promise<string> {
  const folder = await cached(`${name}-${version}`, async (empty) => {
    await maven(empty, ['copy', `-Dartifact=${group}:${name}:${version}`, `-DoutputDirectory=${empty}`]);
  });
  return join(folder, `${name}-${version}.jar`);
}

/** The folder with the jars that a pom.xml names and all that they need, fetched likewise. */
export async function mavenJars(name: string, pom: string): Promise<string> {
  const hash = createHash('sha256').update(readFileSync(pom)).digest('hex').slice(0, 12);
  return cached(`${name}-${hash}`, async (empty) => {
    await maven(empty, ['copy-dependencies', '-f', pom, '-DincludeScope=runtime', `-DoutputDirectory=${empty}`]);
  });
}

/** In an empty folder: Maven would read the project of the working directory. */
async function maven(empty: string, [goal = '', ...options]: readonly string[]): Promise<void> {
  await promisify(execFile)('mvn', ['-q', '-B', `${plugin}:${goal}`, ...options], { cwd: empty, timeout: downloadMs });
}
