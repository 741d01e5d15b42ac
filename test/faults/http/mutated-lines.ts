import { readFileSync } from 'node:fs';
import { LineError } from '../../../src/encoding/line-protocol/line-error.ts';
import { LineParser, paused } from '../../../src/encoding/line-protocol/line-parser.ts';
import { ask } from '../../support/http-client.ts';
import { spawnFramehold } from '../../support/spawned-framehold.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import type { Random } from '../harness/random.ts';
import { promised, type Scenario, type Trial } from '../harness/scenario.ts';
import { checkAnswer } from './answer-promises.ts';
import { mutate } from './byte-mutation.ts';

const telegraf = readFileSync(new URL('../../fixtures/telegraf.lp', import.meta.url), 'utf8')
  .trimEnd()
  .split('\n');
const corpus = [
  ...telegraf,
  'trades,symbol=BTC-USD,side=buy price=71039.35,amount=5i,ok=t,note="a \\"b\\"" 1763424000000000000',
  'trades,symbol=a\\ b\\,c\\=d price=1e-7,at=1763424000000000t',
  'small a=1',
  '# a comment',
].map((line) => Buffer.from(line));

/** One in so many goes to the server, too. */
const sentEvery = 40;
const clientsAtOnce = 4;
const ledger = 'ledger';

/** G7: lines that are damaged are taken or refused with their line, and of a refused body nothing is kept. */
export const mutatedLines: Scenario = {
  id: 'G7',
  promise: 'damaged line protocol crashes nothing, every refusal names its line, and nothing of a refused body is kept',
  rounds: { ci: 700, release: 1_000_000 },
  secondsPerRound: 0.005,
  async run({ rounds, random }: Trial) {
    await using directory = await temporaryDirectory();
    await using server = await spawnFramehold({ dataDir: directory.path });
    const acknowledged = new Set<number>();
    /** Answered 409: others changed a frame between the appends of one body, of which some may be kept. */
    const conflicts = new Set<number>();
    const counts = { lines: 0, parsed: 0, requests: 0, refused: 0 };
    const sendOne = async (number: number, mutated: Buffer): Promise<void> => {
      const body = Buffer.concat([Buffer.from(`${ledger} n=${number}i ${number}\n`), mutated]);
      const answer = await ask(`${server.url}/write`, { method: 'POST', body });
      counts.requests++;
      const headers = new Map(Object.entries(answer.headers).map(([name, value]) => [name, String(value)]));
      checkAnswer({ status: answer.status, headers, body: answer.body, isWhole: true }, { dataDir: directory.path });
      if (answer.status === 204) {
        acknowledged.add(number);
        return;
      }
      counts.refused++;
      if (answer.status === 409) {
        conflicts.add(number);
        return;
      }
      const { line } = answer.json();
      const isThere = typeof line === 'number' && line >= 1 && line <= linesOf(body);
      promised(answer.status === 400 && isThere, 'a refusal names its line', {
        status: answer.status,
        text: answer.text,
      });
    };
    const work = async (own: Random): Promise<void> => {
      while (counts.lines < rounds) {
        const number = ++counts.lines;
        const mutated = mutate(own.pick(corpus), own, corpus);
        if (isParsed(mutated)) counts.parsed++;
        if (number % sentEvery === 0) await sendOne(number, mutated);
      }
    };
    await Promise.all(Array.from({ length: clientsAtOnce }, () => work(random.fork())));
    const kept = await ask(`${server.url}/exec?handle=${ledger}&fmt=json&limit=10000000`);
    const dataset = kept.json().dataset as [number][];
    const numbers = dataset
      .map(([n]) => n)
      .filter((n) => !conflicts.has(n))
      .sort((one, other) => one - other);
    const expected = [...acknowledged].sort((one, other) => one - other);
    promised(String(numbers) === String(expected), 'what is kept is what was acknowledged', { numbers, expected });
    return { ...counts, conflicts: conflicts.size, acks: acknowledged.size, crashes: 0 };
  },
};

/** Whether it is taken; anything but an error of a line that is there breaks the promise. */
function isParsed(body: Buffer): boolean {
  try {
    const parser = new LineParser(body, { precision: 'n', now: 0n, addsColumns: false });
    for (let next = parser.next(); next !== undefined; next = parser.next())
      if (next !== paused) parser.know(undefined);
    for (const rows of parser.measurements) rows.batch();
    return true;
  } catch (error) {
    const isThere = error instanceof LineError && error.line >= 1 && error.line <= linesOf(body);
    promised(isThere, 'the parser throws errors of lines alone', {
      error: String(error),
      body: body.toString('base64'),
    });
    return false;
  }
}

function linesOf(body: Buffer): number {
  return body.toString('latin1').split('\n').length;
}
