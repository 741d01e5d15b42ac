import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ask } from '../../support/http-client.ts';
import { type Address, type Door, doors, write } from '../harness/doors.ts';
import type { Outcome, Verb } from '../harness/ledger.ts';

/** A write, over a connection of its own. */
export interface Act {
  readonly name: string;
  readonly handle: string;
  /** Which of its records a power cut must leave. */
  readonly record: 'manifests' | 'tombstones';
  /** Whether rows come with it. */
  readonly hasData: boolean;
  run(to: Address): Promise<Outcome>;
}

/** What is held under the handle before: nothing, one file, or a folder of parts. */
const situations = ['absent', 'file', 'folder'] as const;

/** Every door with each of its verbs, on whatever may be there before; and the other ways to change a frame. */
export function everyAct(coldDirectory: string): Act[] {
  const acts: Act[] = [];
  const through = (door: Door, verb: Verb, handle: string): void => {
    const n = acts.length + 1;
    acts.push({
      name: `${verb} of ${handle} through ${door}`,
      handle,
      record: verb === 'drop' ? 'tombstones' : 'manifests',
      hasData: verb !== 'drop',
      run: (to) => write(to, door, { handle, verb, n }),
    });
  };
  for (const door of Object.keys(doors) as Door[]) {
    for (const verb of doors[door].verbs) {
      for (const situation of situations) {
        if (situation === 'absent' ? verb === 'drop' || door === 'insertInto' : verb === 'create') continue;
        const handle = `${door}_${verb}_${situation}`;
        if (situation !== 'absent') through('impJson', 'create', handle);
        if (situation === 'folder') through('doPut', 'append', handle);
        through(door, verb, handle);
      }
    }
  }
  const dropped = 'delete_drop_folder';
  through('impCsv', 'create', dropped);
  acts.push(post(dropped, false, `/handles/${dropped}/renew?ttl=1h`, async () => ''));
  const parquet = () => readFile(join(coldDirectory, `${dropped}.parquet`));
  acts.push(post('parquet', true, '/imp?name=parquet&format=parquet', parquet));
  acts.push(post('parquet', true, '/imp?name=parquet&format=parquet&append=true', parquet));
  return acts;
}

function post(handle: string, hasData: boolean, path: string, body: () => Promise<string | Buffer>): Act {
  return {
    name: `POST ${path}`,
    handle,
    record: 'manifests',
    hasData,
    async run({ url }) {
      const { status } = await ask(`${url}${path}`, { method: 'POST', body: await body() });
      return status === 200 ? 'acknowledged' : 'refused';
    },
  };
}
