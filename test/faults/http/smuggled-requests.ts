import { ask } from '../../support/http-client.ts';
import { spawnFramehold } from '../../support/spawned-framehold.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import type { Random } from '../harness/random.ts';
import { promised, type Scenario, type Trial } from '../harness/scenario.ts';
import { say } from './conversation.ts';
import { parseAnswers } from './parsed-answers.ts';
import { seenRequests } from './strict-requests.ts';

/** Ways to say that the body is chunked which one reader understands and another may not. */
const codings = [
  'Transfer-Encoding: chunked',
  'Transfer-Encoding: cHuNkEd,',
  'Transfer-Encoding : chunked',
  'Transfer-Encoding:\tchunked',
  'Transfer-Encoding: \x0bchunked',
  'Transfer-Encoding: xchunked',
  'Transfer-Encoding: chunked, identity',
  'Transfer-Encoding: identity, chunked',
  'Transfer-Encoding: "chunked"',
  'Transfer-Encoding: chunked\r\nTransfer-Encoding: identity',
  'Transfer-Encoding: identity\r\nTransfer-Encoding: chunked',
  'Transfer-Encoding:\r\n chunked',
  'Transfer-Encoding\0: chunked',
  'Transfer_Encoding: chunked',
  'Content-Encoding: chunked',
  ' Transfer-Encoding: chunked',
  'X: a\r\n Transfer-Encoding: chunked',
  'X: a\nTransfer-Encoding: chunked',
  'X: a\rTransfer-Encoding: chunked',
  'Connection: transfer-encoding\r\nTransfer-Encoding: chunked',
] as const;

/** Ways to say a length. */
const lengths: readonly ((bytes: number) => string)[] = [
  (bytes) => `Content-Length: ${bytes}`,
  (bytes) => `Content-Length: +${bytes}`,
  (bytes) => `Content-Length: ${bytes}, ${bytes}`,
  (bytes) => `Content-Length: ${bytes}\r\nContent-Length: ${bytes}`,
  (bytes) => `Content-Length: 0\r\nContent-Length: ${bytes}`,
  (bytes) => `Content-Length: ${bytes}\r\nContent-Length: 0`,
  (bytes) => `Content-Length : ${bytes}`,
  (bytes) => ` Content-Length: ${bytes}`,
  (bytes) => `Content-Length: 0x${bytes.toString(16)}`,
  (bytes) => `Content-Length: ${bytes} 0`,
  (bytes) => `Content-Length: 00${bytes}`,
  (bytes) => `Content-Length:\r\n ${bytes}`,
  (bytes) => `Content_Length: ${bytes}`,
  (bytes) => `X: a\nContent-Length: ${bytes}`,
  (bytes) => `Content-Length\0: ${bytes}`,
  (bytes) => `Content-Length: ${2 ** 32 + bytes}`,
  (bytes) => `${'a:b\r\n'.repeat(99)}Content-Length: ${bytes}`,
];

const outer = [
  'GET /ping',
  'POST /imp?name=o',
  'POST /sql',
  'DELETE /handles/o',
  'HEAD /info',
  'OPTIONS /imp',
  'GET /no',
];
const hidden = 'POST /sql?smuggled HTTP/1.1\r\nHost: localhost\r\nX-Request-Id: smuggled\r\nContent-Length: 0\r\n\r\n';

/** I1s: what is hidden in the body of a request must never be taken for one. */
export const smuggledRequests: Scenario = {
  id: 'I1s',
  promise: 'a request hidden in the body of another is never answered, however the length of that is said',
  rounds: { ci: 200, release: 200_000 },
  secondsPerRound: 0.03,
  async run({ rounds, random }: Trial) {
    await using directory = await temporaryDirectory();
    await using server = await spawnFramehold({ dataDir: directory.path });
    let [sent, inTheOpen] = [0, 0];
    const client = async (draw: Random): Promise<void> => {
      while (sent < rounds) {
        sent++;
        const bytes = hiding(draw);
        const { whole } = seenRequests(bytes);
        const isOpen = whole.some(({ target }) => target.includes('smuggled'));
        const methods = whole.map(({ method }) => method);
        const heard = await say(server.url, bytes, { answers: whole.length, methods, deadlineMs: 20_000 });
        const isAnswered = parseAnswers(heard.bytes, methods).some(
          ({ headers }) => headers.get('x-request-id') === 'smuggled',
        );
        promised(isOpen || !isAnswered, 'what is hidden is not answered', bytes.toString('latin1'));
        if (isAnswered) inTheOpen++;
      }
    };
    await Promise.all(Array.from({ length: 12 }, () => client(random.fork())));
    promised(inTheOpen > 0, 'what is not hidden is answered', { sent });
    promised((await ask(`${server.url}/ping`)).text === 'ok', 'the server runs on');
    return { requests: sent, 'in the open': inTheOpen, smuggled: 0 };
  },
};

function hiding(random: Random): Buffer {
  const bodies = [
    hidden,
    `0\r\n\r\n${hidden}`,
    `0\r\nX: a\r\n\r\n${hidden}`,
    `${hidden.length.toString(16)}\r\n${hidden}\r\n0\r\n\r\n`,
    `1;a=\r\n${hidden}\r\n0\r\n\r\n`,
    `0;\n\r\n\r\n${hidden}`,
    `0\n\n${hidden}`,
    `1\r\nZ\n${hidden}`,
  ];
  const body = random.pick(bodies);
  const length = random.pick(lengths)(random.pick([body.length, body.indexOf('\r\n') + 2, 0, 3]));
  const coding = random.pick(codings);
  const kind = random.between(0, 3);
  const framing = kind === 0 ? [length] : kind === 1 ? [coding] : kind === 2 ? [length, coding] : [coding, length];
  const version = random.chance(0.1) ? 'HTTP/1.0' : 'HTTP/1.1';
  const head = [
    `${random.pick(outer)} ${version}`,
    'Host: localhost',
    'Connection: keep-alive',
    ...framing,
    '',
    '',
  ].join('\r\n');
  return Buffer.from(head + body, 'latin1');
}
