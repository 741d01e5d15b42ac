import { setTimeout as delay } from 'node:timers/promises';
import { spawnFramehold } from '../../support/spawned-framehold.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import type { Random } from '../harness/random.ts';
import { promised, type Scenario, type Trial } from '../harness/scenario.ts';
import { type MarkedRequest, markedAnswer, startMarkedUpstream } from './marked-upstream.ts';
import { askMarked } from './told-answer.ts';

const clients = 8;

/** U5: an upstream that breaks connections after it has read a statement, or just when one is about to be used again. */
export const sentOnce: Scenario = {
  id: 'U5',
  promise: 'a statement reaches the external database at most once, whatever happens to its connection',
  rounds: { ci: 80, release: 50_000 },
  secondsPerRound: 0.1,
  async run({ rounds, random }: Trial) {
    await using directory = await temporaryDirectory();
    const upstreamRandom = random.fork();
    const answered = new Set<number>();
    await using upstream = await startMarkedUpstream((request) => treat(request, upstreamRandom, answered));
    const flags = ['--tsdb-http-url', upstream.url, '--tsdb-max-connections', '4'];
    await using server = await spawnFramehold({ dataDir: directory.path, flags });

    let next = 1;
    let whole = 0;
    let refused = 0;
    const client = async (own: Random): Promise<void> => {
      while (next <= rounds) {
        const marker = next++;
        const told = await askMarked(server.url, marker, {
          headers: own.chance(0.1) ? { 'statement-timeout': '1000' } : {},
        });
        promised(told.kind === 'whole', 'every statement has an answer', told);
        if (told.status === 200) {
          promised(String(told.body) === JSON.stringify({ marker }), 'everyone gets its own answer', told);
          promised(answered.has(marker), 'an answer was given', marker);
          whole++;
        } else {
          promised(told.status === 502, 'what breaks is 502', [told.status, String(told.body)]);
          const arrived = upstream.arrivals.has(marker);
          promised(
            !arrived || told.headers['retry-after'] === undefined,
            'a statement that may have been executed does not ask to be sent again',
            String(told.body),
          );
          refused++;
        }
        // Connections become idle, and meet their end in between.
        if (own.chance(0.3)) await delay(own.between(0, 8));
      }
    };
    await Promise.all(Array.from({ length: clients }, () => client(random.fork())));
    const repeated = [...upstream.arrivals].filter(([, times]) => times > 1);
    promised(repeated.length === 0, 'no statement is sent twice', repeated.slice(0, 10));
    promised(whole > rounds / 10 && refused > rounds / 10, 'there was enough of both', [whole, refused]);
    return { statements: rounds, answered: whole, broken: refused, repeated: 0, connections: upstream.connections };
  },
};

async function treat({ marker, socket, send }: MarkedRequest, random: Random, answered: Set<number>): Promise<void> {
  const answer = async (): Promise<void> => {
    answered.add(marker);
    await send(markedAnswer(marker));
  };
  switch (random.between(0, 7)) {
    case 0:
      socket.end();
      return;
    case 1:
      socket.resetAndDestroy();
      return;
    case 2:
      await send('HTTP/1.1 200 OK\r\nContent-');
      socket.destroy();
      return;
    case 3:
      await answer();
      socket.end();
      return;
    case 4:
      await answer();
      socket.resetAndDestroy();
      return;
    case 5:
    case 6:
      // The end comes about when the connection is taken again, or lies idle.
      await answer();
      await delay(random.between(0, 6));
      if (random.chance(0.5)) socket.end();
      else socket.resetAndDestroy();
      return;
    default:
      await answer();
  }
}
