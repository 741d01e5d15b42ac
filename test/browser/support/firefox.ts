import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { WebSocket } from 'undici';
import { debianPackage } from '../../support/debian-package.ts';
import { Missing } from '../../support/missing.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const commandMs = 30_000;

/** A page of a Firefox without a window, driven over WebDriver BiDi. */
export interface FirefoxPage extends AsyncDisposable {
  readonly version: string;
  /** What the browser wrote as an error, and what the policy of the page refused. */
  readonly complaints: readonly string[];
  goto(url: string): Promise<void>;
  /** The value of an expression in the page; promises are waited for. It must be JSON. */
  evaluate(expression: string): Promise<unknown>;
  /** Evaluates it until it is true. */
  waitFor(expression: string): Promise<void>;
  /** In the middle of the element that an expression gives. */
  click(element: string): Promise<void>;
  /** As a person types it: a text, or keys such as `Control+g`. */
  type(text: string): Promise<void>;
  press(keys: string): Promise<void>;
}

interface Reply {
  readonly id?: number;
  readonly type?: string;
  readonly message?: string;
  readonly result?: Readonly<Record<string, unknown>>;
  readonly method?: string;
  readonly params?: { readonly level?: string; readonly text?: string };
}

const mark = 'refused by the policy: ';
const keyCodes: Readonly<Record<string, string>> = {
  Control: '\uE009',
  Enter: '\uE007',
  Escape: '\uE00C',
  End: '\uE010',
};

/** Firefox as FRAMEHOLD_FIREFOX names it, else of Debian's packages, fetched once into the user's cache. Throws Missing. */
export async function openFirefox(): Promise<FirefoxPage> {
  const { command, libraries } = await program();
  const profile = await temporaryDirectory();
  const args = ['--headless', '--no-remote', '--profile', profile.path, '--remote-debugging-port', '0', 'about:blank'];
  const env = { ...process.env, HOME: profile.path, LANG: 'en_US.UTF-8', LD_LIBRARY_PATH: libraries };
  const child = spawn(command, args, { env, stdio: ['ignore', 'ignore', 'pipe'] });
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  let address: string | undefined;
  for await (const line of createInterface({ input: child.stderr })) {
    address = /WebDriver BiDi listening on (ws:\S+)/.exec(line)?.[1];
    if (address !== undefined) break;
  }
  child.stderr.resume();
  if (address === undefined) throw new Error('Firefox ended before it listened');

  const socket = new WebSocket(`${address}/session`);
  await new Promise((resolve, reject) => {
    socket.addEventListener('open', resolve, { once: true });
    socket.addEventListener('error', reject, { once: true });
  });
  const complaints: string[] = [];
  const waiting = new Map<number, (reply: Reply) => void>();
  socket.addEventListener('message', ({ data }) => {
    const reply = JSON.parse(String(data)) as Reply;
    if (reply.id !== undefined) waiting.get(reply.id)?.(reply);
    const { level, text = '' } = reply.params ?? {};
    if (reply.method === 'log.entryAdded' && (level === 'error' || text.startsWith(mark))) complaints.push(text);
  });
  let last = 0;
  const send = async (method: string, params: object): Promise<Readonly<Record<string, unknown>>> => {
    const id = ++last;
    const replied = new Promise<Reply>((resolve, reject) => {
      waiting.set(id, resolve);
      setTimeout(() => reject(new Error(`Firefox did not answer ${method}`)), commandMs).unref();
    });
    socket.send(JSON.stringify({ id, method, params }));
    const { type, message, result = {} } = await replied;
    if (type === 'error') throw new Error(`${method}: ${message}`);
    return result;
  };

  const { capabilities } = await send('session.new', { capabilities: {} });
  await send('session.subscribe', { events: ['log.entryAdded'] });
  const listen = `() => addEventListener('securitypolicyviolation', (event) =>
    console.info('${mark}' + event.effectiveDirective + ' ' + event.blockedURI + ' ' + event.sample))`;
  await send('script.addPreloadScript', { functionDeclaration: listen });
  const { contexts } = await send('browsingContext.getTree', {});
  const context = (contexts as readonly { readonly context: string }[])[0]?.context;
  await send('browsingContext.setViewport', { context, viewport: { width: 1280, height: 800 } });

  const evaluate = async (expression: string): Promise<unknown> => {
    const text = `Promise.resolve(${expression}).then((value) => JSON.stringify(value) ?? 'null')`;
    const reply = await send('script.evaluate', { expression: text, target: { context }, awaitPromise: true });
    const { result, exceptionDetails } = reply as {
      readonly result?: { readonly value: string };
      readonly exceptionDetails?: { readonly text: string };
    };
    if (exceptionDetails !== undefined) throw new Error(`${expression}: ${exceptionDetails.text}`);
    return JSON.parse(result?.value ?? 'null');
  };
  const perform = async (actions: readonly object[]): Promise<void> => {
    await send('input.performActions', { context, actions: [{ type: 'key', id: 'keyboard', actions }] });
  };
  return {
    version: (capabilities as { readonly browserVersion: string }).browserVersion,
    complaints,
    evaluate,
    goto: async (url) => void (await send('browsingContext.navigate', { context, url, wait: 'complete' })),
    async waitFor(expression) {
      for (const start = Date.now(); Date.now() - start < commandMs; ) {
        if ((await evaluate(expression)) === true) return;
      }
      throw new Error(`Firefox waited in vain for ${expression}`);
    },
    async click(element) {
      const [x, y] = (await evaluate(`(({ x, y, width, height }) =>
        [Math.round(x + width / 2), Math.round(y + height / 2)])((${element}).getBoundingClientRect())`)) as number[];
      const actions = [
        { type: 'pointerMove', x, y },
        { type: 'pointerDown', button: 0 },
        { type: 'pointerUp', button: 0 },
      ];
      await send('input.performActions', { context, actions: [{ type: 'pointer', id: 'mouse', actions }] });
    },
    type: (text) =>
      perform(
        [...text].flatMap((value) => [
          { type: 'keyDown', value },
          { type: 'keyUp', value },
        ]),
      ),
    async press(keys) {
      const values = keys.split('+').map((key) => keyCodes[key] ?? key);
      const down = values.map((value) => ({ type: 'keyDown', value }));
      await perform([...down, ...values.toReversed().map((value) => ({ type: 'keyUp', value }))]);
    },
    async [Symbol.asyncDispose]() {
      socket.close();
      child.kill('SIGKILL');
      await exited;
      await profile[Symbol.asyncDispose]();
    },
  };
}

async function program(): Promise<{ readonly command: string; readonly libraries: string }> {
  const named = process.env.FRAMEHOLD_FIREFOX;
  if (named !== undefined && named !== '') return { command: named, libraries: process.env.LD_LIBRARY_PATH ?? '' };
  const folder = await debianPackage('firefox-esr', 'usr/lib/firefox-esr/firefox-esr').catch((error: Error) => {
    throw new Missing(`${error.message}; FRAMEHOLD_FIREFOX may name a Firefox`);
  });
  const own = join(folder, 'usr', 'lib', 'firefox-esr');
  return { command: join(own, 'firefox-esr'), libraries: `${own}:${join(folder, 'usr', 'lib', 'x86_64-linux-gnu')}` };
}
