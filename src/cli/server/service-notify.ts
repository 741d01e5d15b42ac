import { type ChildProcessByStdio, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import type { Logger } from '../../core/logs/logger.ts';
import type { Environment } from '../framework/environment.ts';

/** Messages to the service manager: systemd, or another one with its protocol (sd_notify). */
export interface ServiceNotify extends Disposable {
  ready(status: string): void;
  /** `limitMs`: when it gives up a clean stop. */
  stopping(limitMs: number): void;
}

/** Time of the end of the process beyond that. */
const endMs = 1000;

const silent: ServiceNotify = { ready: () => {}, stopping: () => {}, [Symbol.dispose]: () => {} };

/**
 * Sends each line of its input. Node has no sockets of the kind that the protocol needs. A shell that exists from the start
 * starts `systemd-notify`, because forking a server of 1 GB stops it for a tenth of a second. A signal to the whole group does
 * not end it: it ends with its input.
 */
const script = `trap '' HUP INT TERM; while IFS= read -r line; do systemd-notify "$line"; done`;

/** Silent if no service manager waits for messages (NOTIFY_SOCKET). While it is open, the watchdog gets its messages. */
export function openServiceNotify({ env, pid }: Environment, logger: Logger): ServiceNotify {
  const { NOTIFY_SOCKET: socket, PATH: path } = env;
  // A service manager that waits for another process, of which ours is a child, wants to hear from that.
  if (!socket || (env.WATCHDOG_PID ?? String(pid)) !== String(pid)) return silent;
  const shell = spawn('/bin/sh', ['-c', script], {
    stdio: ['pipe', 'ignore', 'pipe'],
    env: { NOTIFY_SOCKET: socket, ...(path === undefined ? {} : { PATH: path }) },
  });
  warnOnce(shell, logger);
  const send = (line: string): void => {
    shell.stdin.write(`${line}\n`);
  };
  // From the event loop, which serves the listeners as well: a blocked loop sends none.
  const beats = watchdogTimer(env.WATCHDOG_USEC, () => send('WATCHDOG=1'));
  return {
    ready(status) {
      send(`STATUS=${status}`);
      send('READY=1');
    },
    stopping(limitMs) {
      send('STOPPING=1');
      send(`EXTEND_TIMEOUT_USEC=${(limitMs + endMs) * 1000}`);
    },
    [Symbol.dispose]() {
      clearInterval(beats);
      shell.stdin.end();
    },
  };
}

function watchdogTimer(limitUs: string | undefined, beat: () => void): NodeJS.Timeout | undefined {
  const limitMs = Number(limitUs) / 1000;
  // A longer one than Node's timers can take is as good as none.
  return limitMs > 0 && limitMs < 2 ** 31 ? setInterval(beat, limitMs / 2) : undefined;
}

/** The server serves without it. */
function warnOnce(shell: ChildProcessByStdio<Writable, null, Readable>, logger: Logger): void {
  let hasWarned = false;
  const warn = (reason: string): void => {
    if (hasWarned) return;
    hasWarned = true;
    logger.warn(
      'the service manager (NOTIFY_SOCKET) cannot be told of the state: install systemd-notify, or start without Type=notify and WatchdogSec',
      { reason },
    );
  };
  shell.once('error', ({ message }) => warn(message));
  shell.stdin.on('error', ({ message }) => warn(message));
  shell.stderr.setEncoding('utf8').on('data', (text: string) => warn(text.split('\n')[0] ?? ''));
}
