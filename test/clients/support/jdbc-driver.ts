import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { mavenJar } from '../../support/maven-jar.ts';
import { Missing } from '../../support/missing.ts';

const run = promisify(execFile);

/** DBeaver from 26.1.3 does not get on with 19.0.0 (dbeaver/dbeaver#41638). */
export const jdbcDriverVersion = '18.3.0';
const name = 'flight-sql-jdbc-driver';

/** The command line that runs a Java source file with the Flight SQL driver of JDBC. Throws Missing. */
export async function javaWithJdbcDriver(): Promise<readonly [command: string, ...args: string[]]> {
  await run('javac', ['-version']).catch(() => {
    throw new Missing('there is no JDK (17 or later) on the PATH');
  });
  const jar = await fetchDriver();
  return [
    'java',
    // A JVM that lives for seconds is not worth optimising for.
    ...['-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC', '-Xshare:auto'],
    '--add-opens=java.base/java.nio=ALL-UNNAMED',
    ...['-cp', jar],
  ];
}

async function fetchDriver(): Promise<string> {
  try {
    return await mavenJar('org.apache.arrow', name, jdbcDriverVersion);
  } catch (error) {
    const missing = error instanceof Error && 'code' in error && error.code === 'ENOENT';
    throw new Missing(
      missing
        ? 'there is no mvn on the PATH to fetch the JDBC driver'
        : `fetching the JDBC driver failed: ${firstLine(error)}`,
    );
  }
}

function firstLine(error: unknown): string {
  const stdout = error instanceof Error && 'stdout' in error ? String(error.stdout) : '';
  const [line = 'unknown reason'] = (stdout.trim() || String(error)).split('\n');
  return line.slice(0, 200).replace(/https?:\/\/\S+/g, '<registry>');
}
