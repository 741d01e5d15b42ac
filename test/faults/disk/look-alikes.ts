import { copyFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { ask } from '../../support/http-client.ts';
import { spawnFramehold } from '../../support/spawned-framehold.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { contentOf, doorsFor, write } from '../harness/doors.ts';
import { Ledger, type Verb } from '../harness/ledger.ts';
import { promised, type Scenario, type Trial } from '../harness/scenario.ts';

const verbs: readonly Verb[] = ['create', 'overwrite', 'append', 'drop'];
/** Alike to people and to some file systems, but not the same. */
const alike = ['trades', 'Trades', 'TRADES', 'trades.parquet', 'trades_', 'trades.'];
/** Names that are no handles: another form of the same letters, letters of another alphabet, invisible ones, ways out. */
const strange = [
  'caf\u00e9',
  'cafe\u0301',
  'tr\u0430des',
  'trades\u200b',
  '..',
  '../trades',
  'trades/../x',
  '.hidden',
  '-x',
  'con:',
  'a b',
  'x'.repeat(129),
];

/** C2: names that look the same. */
export const lookAlikes: Scenario = {
  id: 'C2-names',
  promise: 'handles that look alike are different frames, and a name that is no handle reaches no file',
  rounds: { ci: 10, release: 2000 },
  secondsPerRound: 1,
  async run({ rounds, random }: Trial) {
    await using directory = await temporaryDirectory();
    const ledger = new Ledger();
    {
      await using server = await spawnFramehold({ dataDir: directory.path });
      for (let n = 1; n <= rounds; n++) {
        const verb = random.pick(verbs);
        const operation = { handle: random.pick(alike), verb, n };
        const doors = doorsFor(verb).filter((door) => !inSql.has(door));
        ledger.note(operation, await write(server, random.pick(doors), operation));
        const other = random.pick(alike);
        ledger.settle(other, await contentOf(server, other));
      }
      const cold = join(directory.path, 'cold');
      const put = await write(server, 'impCsv', { handle: 'source', verb: 'create', n: 17 });
      promised(put === 'acknowledged', 'a put');
      for (const name of strange) {
        const query = `name=${encodeURIComponent(name)}`;
        const refused = await ask(`${server.url}/imp?${query}`, { method: 'POST', body: 'a\n1\n' });
        promised(refused.json().code === 'invalid_handle', `${JSON.stringify(name)} is no handle`, refused.text);
        const read = await ask(`${server.url}/exec?handle=${encodeURIComponent(name)}&fmt=json`);
        promised(read.json().code === 'invalid_handle', `${JSON.stringify(name)} cannot be read`, read.text);
        if (name.includes('/') || name === '..' || name.length > 100) continue;
        copyFileSync(join(cold, 'source.parquet'), join(cold, '.copy'));
        renameSync(join(cold, '.copy'), join(cold, `${name}.parquet`));
      }
    }
    await using server = await spawnFramehold({ dataDir: directory.path });
    for (const handle of alike) ledger.settle(handle, await contentOf(server, handle));
    const listed = (await ask(`${server.url}/handles?limit=1000`)).json().handles as { handle: string }[];
    const expected = [...alike.filter((handle) => ledger.possible(handle)[0] !== undefined), 'source'].sort();
    const found = listed.map(({ handle }) => handle);
    promised(found.join() === expected.join(), 'files whose names are no handles are no frames', { found, expected });
    return { writes: rounds, 'names refused': strange.length };
  },
};

/** They name the frame in SQL, where names are the same in any case and need quotes. */
const inSql: ReadonlySet<string> = new Set(['createTableAs', 'insertInto', 'dropTable', 'ingest']);
