import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { python } from '../../clients/support/python.ts';
import type { EngineDoor, SqlAnswer } from './engine-door.ts';

const program = fileURLToPath(new URL('adbc_answers.py', import.meta.url));

/** The answers of an engine through the ADBC driver, one behind the other. */
export async function adbcAnswers(
  { server }: EngineDoor,
  engine: string,
  statements: readonly string[],
): Promise<readonly SqlAnswer[]> {
  const address = `127.0.0.1:${server.grpcPort}`;
  const maxBuffer = 256 * 1024 * 1024;
  const running = promisify(execFile)(await python(), ['-B', program, address, engine], { maxBuffer });
  running.child.stdin?.end(JSON.stringify(statements));
  const { stdout } = await running;
  return stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as SqlAnswer);
}
