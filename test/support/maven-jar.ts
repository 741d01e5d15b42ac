import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { cached } from './cached.ts';

const plugin = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy';
const downloadMs = 240_000;

/** The path of a jar, fetched through Maven unless this machine has it already. */
export async function mavenJar(group: string, name: string, version: string): Promise<string> {
  const folder = await cached(`${name}-${version}`, async (empty) => {
    const options = [`-Dartifact=${group}:${name}:${version}`, `-DoutputDirectory=${empty}`];
    // In an empty folder: Maven would read the project of the working directory.
    await promisify(execFile)('mvn', ['-q', '-B', plugin, ...options], { cwd: empty, timeout: downloadMs });
  });
  return join(folder, `${name}-${version}.jar`);
}
