import { ask } from '../../support/http-client.ts';
import { type SpawnedFramehold, spawnFramehold } from '../../support/spawned-framehold.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import type { Random } from '../harness/random.ts';
import { promised, type Scenario, type Trial } from '../harness/scenario.ts';
import { checkAnswer } from './answer-promises.ts';
import { mutate } from './byte-mutation.ts';
import { say } from './conversation.ts';
import { type GoodRequest, recordGoodTraffic } from './good-traffic.ts';
import { checkForwarded, startGoodUpstream } from './good-upstream.ts';
import { crashesIn, givesBack, heldBy, warmUp } from './held-resources.ts';
import { type ParsedAnswer, parseAnswers } from './parsed-answers.ts';
import { nearlyRight } from './request-grammar.ts';
import { seenRequests } from './strict-requests.ts';

const clients = 12;
/** Generous: a put waits for the disk, and other work may run beside. */
const deadlineMs = 30_000;

/** I1: what no HTTP client would send, and what one sends when a byte of it is wrong. */
export const malformedHttp: Scenario = {
  id: 'I1',
  promise: 'malformed HTTP is answered or cut off, one answer a request, and changes, crashes and leaks nothing',
  rounds: { ci: 200, release: 1_000_000 },
  secondsPerRound: 0.03,
  async run({ rounds, random, progress }: Trial) {
    await using directory = await temporaryDirectory();
    await using upstream = await startGoodUpstream();
    const flags = ['--tsdb-http-url', upstream.url, '--log-level', 'warn,duckdb=debug'];
    await using server = await spawnFramehold({ dataDir: directory.path, flags });
    const canary = await putCanary(server);
    const traffic = await recordGoodTraffic(server.url);
    await warmUp(server);
    const before = heldBy(server, directory.path);
    const counts: Counts = { sent: 0, answered: 0, refused: 0, good: 0, unanswered: 0 };
    const client = async (draw: Random): Promise<void> => {
      while (counts.sent < rounds) {
        if (++counts.sent % 20_000 === 0) progress(`${counts.sent} sent, ${counts.refused} refused`);
        const answers = await sendOdd(server, oddBytes(draw, traffic), directory.path);
        count(counts, answers);
      }
    };
    await Promise.all(Array.from({ length: clients }, () => client(random.fork())));
    await givesBack(server, directory.path, before, 20_000);
    promised(!server.hasExited(), 'the server runs on', server.stderr().slice(-1000));
    const crashes = crashesIn(server.stderr());
    promised(crashes.length === 0, 'no process that works on requests died', crashes);
    promised((await canaryText(server)) === canary, 'a frame that nobody named is as it was');
    checkForwarded(upstream.requests);
    promised(counts.good > 0 && counts.refused > 0, 'some of it was good and some was not', counts);
    return {
      ...counts,
      crashes: 0,
      leaks: 0,
      frames: await readAllFrames(server),
      forwarded: upstream.requests.length,
    };
  },
};

type Counts = Record<'sent' | 'answered' | 'refused' | 'good' | 'unanswered', number>;

function count(counts: Counts, answers: readonly ParsedAnswer[]): void {
  counts.answered += answers.length;
  if (answers.length === 0) counts.unanswered++;
  for (const { status } of answers) {
    if (status < 400) counts.good++;
    else counts.refused++;
  }
}

function oddBytes(random: Random, traffic: readonly GoodRequest[]): Buffer {
  if (random.chance(0.4)) return nearlyRight(random);
  const isDear = random.chance(0.12);
  const others = traffic.filter((request) => !request.isDear).map(({ bytes }) => bytes);
  return mutate(random.pick(traffic.filter((request) => request.isDear === isDear)).bytes, random, others);
}

/** Sends it over a connection of its own, and checks all that comes back. */
async function sendOdd(server: SpawnedFramehold, bytes: Buffer, dataDir: string): Promise<ParsedAnswer[]> {
  const { whole, rest, partMethod } = seenRequests(bytes);
  const methods = [...whole.map(({ method }) => method), partMethod];
  try {
    const heard = await say(server.url, bytes, { answers: whole.length, methods, deadlineMs });
    const answers = parseAnswers(heard.bytes, methods);
    const most = whole.length + (rest === 'nothing' ? 0 : 1);
    promised(answers.length <= most, 'there are no more answers than requests', { answers: answers.length, most });
    const cut = answers.findIndex(({ isWhole }) => !isWhole);
    promised(cut < 0 || cut >= whole.length, 'what a whole request is answered is whole', { cut });
    for (const answer of answers) checkAnswer(answer, { dataDir });
    return answers;
  } catch (error) {
    const sent = bytes.toString('latin1');
    throw new Error(`${(error as Error).message}\nto ${JSON.stringify(shortened(sent))} (${sent.length} bytes)`, {
      cause: error,
    });
  }
}

function shortened(text: string): string {
  return text
    .replaceAll(/(.{1,4}?)\1{9,}/gs, (run, piece: string) => `<${run.length / piece.length} times ${piece}>`)
    .slice(0, 1500);
}

async function putCanary({ url }: SpawnedFramehold): Promise<string> {
  const body = `n,text\n${Array.from({ length: 500 }, (_, n) => `${n},canary ${n}\n`).join('')}`;
  const put = await ask(`${url}/imp?name=Canary-of-the-harness`, { method: 'POST', body });
  promised(put.status === 200, 'the canary can be put', put.text);
  return canaryText({ url });
}

async function canaryText({ url }: Pick<SpawnedFramehold, 'url'>): Promise<string> {
  const [rows, facts] = await Promise.all([
    ask(`${url}/exec?handle=Canary-of-the-harness&fmt=json&limit=1,`),
    ask(`${url}/handles/Canary-of-the-harness`),
  ]);
  promised(rows.status === 200 && facts.status === 200, 'the canary can be read', rows.text);
  const { version, created } = facts.json();
  return JSON.stringify([rows.text, version, created]);
}

/** Mutated puts may rightly make frames, of whatever name; each must be one that can be read. */
async function readAllFrames({ url }: SpawnedFramehold): Promise<number> {
  let frames = 0;
  for (let after = ''; ; ) {
    const page = await ask(`${url}/handles?limit=1000${after}`);
    promised(page.status === 200, 'the frames can be listed', page.text);
    const { handles, next } = page.json() as { handles: { handle: string; state: string }[]; next: string | null };
    for (const { handle, state } of handles) {
      promised(state === 'held', 'no frame is damaged', handle);
      const { status, text } = await ask(`${url}/exec?handle=${handle}&fmt=json&limit=10`);
      promised(status === 200 || status === 410, 'every frame can be read', { handle, text });
      frames++;
    }
    if (next === null) return frames;
    after = `&after=${encodeURIComponent(next)}`;
  }
}
