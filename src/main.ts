import { availableParallelism } from 'node:os';
import { isatty } from 'node:tty';
import { setFlagsFromString } from 'node:v8';
import type { Environment } from './cli/framework/environment.ts';
import { run } from './cli/run.ts';
import { homeDirectory, readIfExists } from './config/local-files.ts';
import { version } from './core/system/version.ts';

// Rows pass through as buffers, and V8 counts those to a heap that itself is small: it would go through all of it once for
// every few megabytes that are streamed. With this it does when eleven times as much is there as the last time.
setFlagsFromString('--heap-growing-percent=1000');
// To give each of them back from another thread costs more than to give it back here.
setFlagsFromString('--no-concurrent-array-buffer-sweeping');

/** One Ctrl-C may arrive twice: from the terminal, and passed on by a parent such as npm. */
const echoMs = 100;

let reportFatal = (what: string, error: unknown): void => {
  process.stderr.write(`framehold: ${what}: ${error instanceof Error ? (error.stack ?? error.message) : error}\n`);
};

let onReload: (() => void) | undefined;
let isReloadAsked = false;
// From the first moment, as it would end the process. Other commands end with their terminal.
if (process.argv[2] === 'server') {
  process.on('SIGHUP', () => {
    if (onReload === undefined) isReloadAsked = true;
    else onReload();
  });
}

const host: Environment = {
  version,
  pid: process.pid,
  env: process.env,
  homeDir: homeDirectory(),
  cwd: process.cwd(),
  coreCount: availableParallelism(),
  stdin: () => process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  stdinIsTerminal: isatty(0),
  stdoutIsTerminal: process.stdout.isTTY === true,
  stderrIsTerminal: process.stderr.isTTY === true,
  terminalWidth: () => process.stdout.columns || process.stderr.columns || 80,
  readFile: readIfExists,
  loadServer: ({ storage }) => {
    process.umask(storage.umask);
    return import('./server/start-server.ts');
  },
  loadStorage: ({ storage }) => {
    process.umask(storage.umask);
    return import('./server/storage.ts');
  },
  loadDoctor: () => import('./server/doctor.ts'),
  onFatal: (report) => {
    reportFatal = report;
  },
  onReloadSignal: (listener) => {
    onReload = listener;
    if (isReloadAsked) listener();
    isReloadAsked = false;
  },
  onStopSignal: (listener) => {
    let first: { signal: NodeJS.Signals; atMs: number } | undefined;
    const onSignal = (signal: NodeJS.Signals) => {
      const atMs = performance.now();
      if (first === undefined) {
        first = { signal, atMs };
        listener(signal);
      } else if (signal !== first.signal || atMs - first.atMs > echoMs) {
        process.stderr.write(`framehold: ${signal} while stopping; ending at once\n`);
        endNow(1);
      }
    };
    process.on('SIGINT', onSignal);
    process.on('SIGTERM', onSignal);
  },
};

function endNow(exitCode: number): never {
  try {
    process.exit(exitCode);
  } finally {
    // Reached when an `exit` listener throws.
    process.kill(process.pid, 'SIGKILL');
  }
}

function fatal(what: string, error: unknown): never {
  try {
    reportFatal(what, error);
  } finally {
    endNow(1);
  }
}

process.on('uncaughtException', (error) => fatal('uncaught exception', error));
process.on('unhandledRejection', (error) => fatal('unhandled rejection', error));
let unwritten: NodeJS.ErrnoException | undefined;
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // A reader of our output that goes away (`framehold config | head -1`) is no reason to fail.
  if (error.code !== 'EPIPE') unwritten ??= error;
});
process.stderr.on('error', () => {});

run(host, process.argv.slice(2)).then(
  (exitCode) =>
    process.stdout.write('', () => {
      if (unwritten === undefined) endNow(exitCode);
      process.stderr.write(`framehold: standard output cannot be written (${unwritten.code})\n`);
      endNow(exitCode === 0 ? 1 : exitCode);
    }),
  (error) => fatal('failed', error),
);
