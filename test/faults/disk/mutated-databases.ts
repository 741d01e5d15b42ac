import { existsSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ask } from '../../support/http-client.ts';
import { type SpawnedFramehold, spawnFramehold } from '../../support/spawned-framehold.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { promised, type Scenario, type Trial } from '../harness/scenario.ts';
import { type FrameAnswer, readings } from './frame-answers.ts';
import { isRight } from './mutated-files.ts';
import { mutate } from './mutations.ts';
import { becomes } from './private-files.ts';
import { settledCompression, storeFrame } from './stored-frames.ts';

/** D6: databases of DuckDB go wrong: copies that the server keeps for SQL, and the operator's own. */
export const mutatedDatabases: Scenario = {
  id: 'D6-databases',
  promise:
    'a damaged copy of a frame never gives SQL wrong rows, and a damaged database of the operator hinders no frame',
  rounds: { ci: 2, release: 4000 },
  secondsPerRound: 4,
  async run({ rounds, random, progress }: Trial) {
    await using directory = await temporaryDirectory();
    const analytics = join(directory.path, 'analytics.duckdb');
    const counts = { right: 0, errors: 0, 'operator right': 0, 'operator errors': 0, 'operator differs': 0 };
    await using server = await spawnFramehold({ dataDir: directory.path, flags: settledCompression });
    let sound: Buffer | undefined;
    let expected: string | undefined;
    for (let round = 0; round < rounds; round++) {
      const frame = await storeFrame(server, directory.path, 'warmed', random);
      const path = await warmCopy(server, directory.path);
      const bytes = readFileSync(path);
      writeFileSync(path, mutate(bytes, random, [], { keepsLength: false }).bytes);
      for (let again = 0; again < 3; again++) {
        const answer = await readings.sql(server, 'warmed');
        // An answer that has begun can only be cut off; the next one does without the copy.
        const isCut = again === 0 && 'error' in answer;
        promised(isCut || isRight(frame, 'sql', answer), 'SQL gives the rows that were written', answer);
        counts['error' in answer ? 'errors' : 'right']++;
      }
      promised(isRight(frame, 'exec', await readings.exec(server, 'warmed')), 'reading by handle goes on');
      if (sound === undefined) {
        // A database like any other, for the operator.
        sound = bytes;
        place(analytics, sound);
        expected = contentOf(await readAnalytics(server));
        promised(expected !== undefined, 'the database of the operator is read');
      }
      place(analytics, mutate(sound, random, [], { keepsLength: false }).bytes);
      const answer = await readAnalytics(server);
      const isSame = contentOf(answer) === expected;
      counts['error' in answer ? 'operator errors' : isSame ? 'operator right' : 'operator differs']++;
      promised(!('error' in answer) || answer.error !== 'internal', 'a damaged database is called so', answer);
      promised(isRight(frame, 'csv', await readings.csv(server, 'warmed')), 'frames are served beside it');
      if (round % 100 === 99) progress(`${round + 1} databases`);
    }
    promised(!server.hasExited(), 'the server runs on');
    return { databases: 2 * rounds, wrong: 0, ...counts };
  },
};

/** The copy is made by a process of the lowest priority. */
const mostCopyMs = 60_000;

/** A frame that SQL asked for twice is copied when it asks for nothing more. */
async function warmCopy(server: SpawnedFramehold, dataDir: string): Promise<string> {
  const { versionId } = (await ask(`${server.url}/handles/warmed`)).json() as { versionId: string };
  const root = join(dataDir, 'warm');
  const paths = () => readdirSync(root).map((folder) => join(root, folder, 'default', `${versionId}.duckdb`));
  for (let n = 0; n < 2; n++) await readings.sql(server, 'warmed');
  await becomes('a frame that SQL asks for often is copied', async () => paths().some(isWhole), mostCopyMs);
  return paths().find(isWhole) as string;
}

/** DuckDB writes what tables there are last of all. */
function isWhole(path: string): boolean {
  return existsSync(path) && !existsSync(`${path}.wal`) && readFileSync(path).includes('frame');
}

function place(path: string, bytes: Buffer): void {
  writeFileSync(`${path}.new`, bytes);
  renameSync(`${path}.new`, path);
}

async function readAnalytics({ url }: SpawnedFramehold): Promise<FrameAnswer> {
  const query = encodeURIComponent('select * from analytics.frame order by id, word');
  const answer = await ask(`${url}/exec?query=${query}&engine=local&fmt=json`).catch(() => undefined);
  if (answer === undefined) return { error: 'cut' };
  return answer.status === 200 ? { content: answer.text, version: undefined } : { error: String(answer.json().code) };
}

function contentOf(answer: FrameAnswer): string | undefined {
  return 'content' in answer ? answer.content : undefined;
}
