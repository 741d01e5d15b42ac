import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Cleanup } from '../../src/core/async/cleanup.ts';
import { startFramehold } from '../support/framehold.ts';
import { needed } from '../support/missing.ts';
import { caseSuite, grpcAddress } from './support/case-suite.ts';
import { javaCases } from './support/jdbc-driver.ts';
import { python } from './support/python.ts';
import { startSecureServer } from './support/secure-server.ts';

const client = 'flight-sql-jdbc-driver';
const source = fileURLToPath(new URL('java/JdbcCases.java', import.meta.url));
const putEveryType = fileURLToPath(new URL('python/put_every_type.py', import.meta.url));

const programs = await needed(client, async () => ({ java: await javaCases(), python: await python() }));

caseSuite({
  client,
  source,
  command: programs && [...programs.java, '-Duser.timezone=UTC', source],
  start: () =>
    Cleanup.scope(async (cleanup) => {
      const server = cleanup.use(await startFramehold());
      const secure = cleanup.use(await startSecureServer());
      if (programs !== undefined) {
        await promisify(execFile)(programs.python, ['-B', putEveryType, grpcAddress(server), server.url]);
      }
      return { ...server, more: [grpcAddress(secure), secure.folder] };
    }),
});
