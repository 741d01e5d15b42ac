import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { cached } from '../../support/cached.ts';
import { mavenJar, mavenJars } from '../../support/maven-jar.ts';
import { Missing } from '../../support/missing.ts';

const run = promisify(execFile);
const folder = fileURLToPath(new URL('../java/', import.meta.url));

/** DBeaver from 26.1.3 does not get on with 19.0.0 (dbeaver/dbeaver#41638). */
export const jdbcDriverVersion = '18.3.0';
const name = 'flight-sql-jdbc-driver';

type Command = readonly [command: string, ...args: string[]];

/** The command line that runs a Java source file with the Flight SQL driver of JDBC. Throws Missing. */
export async function javaWithJdbcDriver(): Promise<Command> {
  return javaCommand([await jdbcDriver()]);
}

/** The same with what programs of cases are made of, and with the programs and libraries of `java/tools` where it is asked for. */
export async function javaCases({ withTools = false } = {}): Promise<Command> {
  const jars = [await jdbcDriver(), await caseClasses()];
  if (withTools) jars.push(join(await fetched(mavenJars('jdbc-tools', join(folder, 'tools', 'pom.xml'))), '*'));
  return javaCommand(jars);
}

function javaCommand(classPath: readonly string[]): Command {
  return [
    'java',
    // A JVM that lives for seconds is not worth optimising for.
    ...['-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC', '-Xshare:auto'],
    '--add-opens=java.base/java.nio=ALL-UNNAMED',
    ...['-cp', classPath.join(delimiter)],
  ];
}

/** The path of its jar. Throws Missing. */
export async function jdbcDriver(): Promise<string> {
  await run('javac', ['-version']).catch(() => {
    throw new Missing('there is no JDK (17 or later) on the PATH');
  });
  return fetched(mavenJar('org.apache.arrow', name, jdbcDriverVersion));
}

/** Compiled once: a source file that is run can use other classes, not other source files. */
async function caseClasses(): Promise<string> {
  const source = join(folder, 'CaseProgram.java');
  const hash = createHash('sha256').update(readFileSync(source)).digest('hex').slice(0, 12);
  return cached(`java-cases-${hash}`, async (classes) => {
    await run('javac', ['--release', '17', '-d', classes, source]);
  });
}

async function fetched(jars: Promise<string>): Promise<string> {
  try {
    return await jars;
  } catch (error) {
    const missing = error instanceof Error && 'code' in error && error.code === 'ENOENT';
    throw new Missing(
      missing ? 'there is no mvn on the PATH to fetch jars' : `fetching jars failed: ${firstLine(error)}`,
    );
  }
}

function firstLine(error: unknown): string {
  const stdout = error instanceof Error && 'stdout' in error ? String(error.stdout) : '';
  const [line = 'unknown reason'] = (stdout.trim() || String(error)).split('\n');
  return line.slice(0, 200).replace(/https?:\/\/\S+/g, '<registry>');
}
