import type { Cleanup } from '../../src/core/async/cleanup.ts';
import type { Bout, Contender } from '../harness/bench-case.ts';
import { loadContender, requestsPerSecond, warmUp } from '../harness/contenders.ts';
import { assertSameRows, getExecTable, sizeOf } from '../harness/exec-table.ts';
import { type HttpAnswer, httpGet, urlOf } from '../harness/http-get.ts';
import type { Lab } from '../harness/lab.ts';
import type { HttpServer } from '../harness/server-process.ts';
import { startBareNode } from '../rivals/bare-node.ts';
import { handlePath } from '../rivals/framehold.ts';
import { queryPath, startQuestDb } from '../rivals/questdb.ts';

const connections = 32;

/** The same few rows for everyone, all the time. */
export async function hotReads(lab: Lab, cleanup: Cleanup, rows: number): Promise<Bout> {
  const ourPath = handlePath('trades', String(rows));
  const questdbPath = queryPath(`trades limit ${rows}`);

  const framehold = cleanup.use(await lab.startDemo());
  const answer = await httpGet(urlOf(framehold, ourPath));
  const bareNode = cleanup.use(await startBareNode(answer, lab.folder));
  const trades = await lab.trades();
  const questdb = await lab.rival(() => startQuestDb(lab.folder, trades));
  if (questdb !== undefined) cleanup.use(questdb);

  return {
    contenders: [
      hotReader(lab, 'framehold', framehold, ourPath),
      hotReader(lab, 'bare-node', bareNode, ourPath),
      ...(questdb === undefined ? [] : [hotReader(lab, 'questdb', questdb, questdbPath)]),
    ],
    async verify() {
      await assertRepeats(bareNode, ourPath, answer);
      const ours = await getExecTable(urlOf(framehold, ourPath));
      if (ours.dataset.length !== rows) throw new Error(`framehold answered ${ours.dataset.length} rows, not ${rows}`);
      if (questdb !== undefined) assertSameRows(ours, await getExecTable(urlOf(questdb, questdbPath)), 'questdb');
      return `${sizeOf(ours)}, ${answer.body.length.toLocaleString('en-US')} bytes`;
    },
  };
}

export function hotReader(lab: Lab, name: string, server: HttpServer, path: string): Contender {
  return loadContender({
    name,
    server: () => server,
    connections,
    paths: () => [path],
    until: { ms: lab.loadMs },
    value: requestsPerSecond,
    beforeRound: () => warmUp(server, [path], connections, lab.warmUpMs),
  });
}

export async function assertRepeats(bareNode: HttpServer, path: string, answer: HttpAnswer): Promise<void> {
  const bare = await httpGet(urlOf(bareNode, path), bareNode);
  const sameHeaders = Object.keys(bare.headers).sort().join() === Object.keys(answer.headers).sort().join();
  if (!sameHeaders || !bare.body.equals(answer.body)) throw new Error('bare-node does not send what we send');
}
