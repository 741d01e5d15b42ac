import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { authEnabled, fillAccess, makeTokens } from '../harness/access.ts';
import type { BenchCase, Contender } from '../harness/bench-case.ts';
import { httpGetBody, urlOf } from '../harness/http-get.ts';
import type { Lab } from '../harness/lab.ts';
import { frameholdCommand, startFramehold } from '../rivals/framehold.ts';
import { type FirstQuestion, timeStart } from './start.ts';

const tokens = 10_000;
const tenants = 1000;

/** The first answer needs the records: a server that reads them late pays here. */
export const startAccess: BenchCase = {
  name: 'start-access',
  title:
    'from the start of the process to the first answer to a token, with 10,000 tokens and 1,000 tenants, and with one token',
  unit: 's',
  better: 'lower',
  rounds: 10,
  bars: [{ kind: 'margin', of: 'framehold, 10,000 tokens', over: 'framehold, one token', atMost: 0.1 }],

  async prepare(lab) {
    const full = await closedFolder(lab, 'access-full');
    const bare = await closedFolder(lab, 'access-bare');
    await fillAccess(full.dataDir, { tokens, tenants });
    return {
      contenders: [contender('framehold, 10,000 tokens', full, lab), contender('framehold, one token', bare, lab)],
      verify: () => verify(full, lab),
    };
  },
};

interface ClosedFolder {
  readonly dataDir: string;
  readonly credentials: readonly string[];
}

/** A copy of the demo frames with records of its own: one token of an operator. */
async function closedFolder(lab: Lab, name: string): Promise<ClosedFolder> {
  const dataDir = join(lab.folder, name);
  const isWanted = (path: string): boolean => !path.endsWith(join('.framehold', 'access'));
  await cp(await lab.demoFolder(), dataDir, { recursive: true, filter: isWanted });
  return { dataDir, credentials: await makeTokens(dataDir, { role: 'operator' }) };
}

function contender(name: string, { dataDir, credentials }: ClosedFolder, lab: Lab): Contender {
  const question: FirstQuestion = { path: '/whoami', credentials, answer: '"credential":"token"' };
  const command = (port: number) => {
    const settings = { ...authEnabled, HTTP_BIND_ADDRESS: `127.0.0.1:${port}` };
    return frameholdCommand({ dataDir, logPath: lab.frameholdLog, settings });
  };
  return { name, measure: () => timeStart(command, question) };
}

/** The server finds as many as there are said to be. */
async function verify({ dataDir, credentials }: ClosedFolder, lab: Lab): Promise<string> {
  const client = { credentials };
  await using server = await startFramehold({ dataDir, logPath: lab.frameholdLog, settings: authEnabled, client });
  const counts: string[] = [];
  for (const [name, least] of Object.entries({ tokens, tenants })) {
    const answer = JSON.parse(String(await httpGetBody(urlOf(server, `/${name}`), client))) as Record<
      string,
      unknown[]
    >;
    const count = answer[name]?.length ?? 0;
    if (count < least) throw new Error(`the server has ${count} ${name}, not ${least}`);
    counts.push(`${count.toLocaleString('en-US')} ${name}`);
  }
  return counts.join(', ');
}
