import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from '../../test/support/free-port.ts';
import type { BenchCase, Reading } from '../harness/bench-case.ts';
import { type HttpAnswer, httpGet } from '../harness/http-get.ts';
import { treeOf } from '../harness/process-tree.ts';
import { type ClientOptions, type ServerCommand, ServerProcess } from '../harness/server-process.ts';
import { bareNodeCommand } from '../rivals/bare-node.ts';
import { frameholdCommand } from '../rivals/framehold.ts';

const startMs = 30_000;
const pollMs = 2;

/** From the spawn to the first 200 of `/ping`, over a data directory that holds the demo frames. */
export const start: BenchCase = {
  name: 'start',
  title: 'from the start of the process to the first answer of /ping, demo frames held',
  unit: 's',
  better: 'lower',
  rounds: 10,
  bars: [{ kind: 'ceiling', of: 'framehold', atMost: 0.4 }],

  async prepare(lab) {
    const dataDir = await lab.demoFolder();
    const pong: HttpAnswer = { status: 200, headers: { 'content-type': 'text/plain' }, body: Buffer.from('ok') };
    const ours = (port: number): ServerCommand =>
      frameholdCommand({ dataDir, logPath: lab.frameholdLog, settings: { HTTP_BIND_ADDRESS: `127.0.0.1:${port}` } });
    const bare = (port: number): Promise<ServerCommand> => bareNodeCommand(pong, lab.folder, { port });
    return {
      contenders: [
        { name: 'framehold', measure: () => timeStart(ours, ping) },
        { name: 'bare-node', measure: () => timeStart(bare, ping) },
      ],
      async verify() {
        await timeStart(ours, ping);
        await timeStart(bare, ping);
        return 'both answer /ping with ok';
      },
    };
  },
};

/** A question that a server answers as soon as it has started. */
export interface FirstQuestion extends ClientOptions {
  readonly path: string;
  /** In the body of the answer. */
  readonly answer: string;
}

const ping: FirstQuestion = { path: '/ping', answer: 'ok' };

/** The port is chosen beforehand, so that the server can be asked before it says where it is. */
export async function timeStart(
  command: (port: number) => ServerCommand | Promise<ServerCommand>,
  question: FirstQuestion,
): Promise<Reading> {
  const port = await freePort();
  const prepared = await command(port);
  const startedAt = performance.now();
  await using server = new ServerProcess(prepared);
  const { status, body } = await firstAnswer(port, question, startedAt + startMs);
  const value = (performance.now() - startedAt) / 1000;
  if (status !== 200 || !body.includes(question.answer))
    throw new Error(`${question.path} answered ${status}: ${body}`);
  const { cpuSeconds, rssBytes } = treeOf(server.pid);
  return { value, usage: { cpuSeconds, peakRssBytes: rssBytes }, details: {} };
}

async function firstAnswer(port: number, question: FirstQuestion, deadline: number): Promise<HttpAnswer> {
  const url = `http://127.0.0.1:${port}${question.path}`;
  for (;;) {
    try {
      return await httpGet(url, question);
    } catch (error) {
      if (performance.now() > deadline) throw new Error(`no answer from ${url}`, { cause: error });
      await delay(pollMs);
    }
  }
}
