import { createServer } from 'node:net';
import { Readable, Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { AppError } from '../../core/errors/app-error.ts';
import type { Environment } from '../framework/environment.ts';
import type { RunningServer, StartServer } from '../framework/server-module.ts';
import { run } from '../run.ts';

function fakeEnvironment(startServer: StartServer) {
  const written = { stdout: '', stderr: '' };
  let stop: (signal: string) => void = () => {};
  const environment: Environment = {
    version: '1.2.3',
    pid: 1,
    env: {},
    homeDir: '/home/ada',
    cwd: '/',
    coreCount: 2,
    stderrIsTerminal: false,
    stdin: () => Readable.from([]),
    stdout: new Writable({
      write: (chunk, _, done) => {
        written.stdout += chunk;
        done();
      },
    }),
    stdinIsTerminal: false,
    stdoutIsTerminal: false,
    terminalWidth: () => 80,
    stderr: { write: (text) => (written.stderr += text) },
    readFile: () => undefined,
    onStopSignal: (listener) => {
      stop = listener;
    },
    onReloadSignal: () => {},
    onFatal: () => {},
    loadServer: async () => ({ startServer }),
    loadStorage: () => Promise.reject(new Error('not asked for')),
    loadDoctor: () => Promise.reject(new Error('not asked for')),
  };
  return { environment, written, stop: () => stop('SIGTERM') };
}

function runningServer(over: Partial<RunningServer> = {}): RunningServer {
  return {
    httpAddress: { host: '127.0.0.1', port: 4321 },
    grpcAddress: { host: '127.0.0.1', port: 4322 },
    frameCount: 3,
    applySettings: () => {},
    rereadFiles: async () => {},
    [Symbol.asyncDispose]: async () => {},
    ...over,
  };
}

async function serveOnce(server: RunningServer, flags: readonly string[] = []) {
  const { environment, written, stop } = fakeEnvironment(async () => server);
  const exit = run(environment, ['server', ...flags]);
  await expect.poll(() => written.stdout).toContain('Framehold');
  stop();
  return { exitCode: await exit, ...written };
}

async function failure(thrown: unknown, flags: readonly string[] = []) {
  const { environment, written } = fakeEnvironment(() => Promise.reject(thrown));
  const exitCode = await run(environment, ['server', ...flags]);
  expect(written.stdout).toBe('');
  return { exitCode, line: written.stderr };
}

describe('the banner', () => {
  it('tells the addresses really bound, the data directory, the frames and a line to try', async () => {
    const { stdout, exitCode } = await serveOnce(runningServer(), ['--data-dir', '/data', '--demo']);
    expect(exitCode).toBe(0);
    expect(stdout).toBe(`Framehold 1.2.3
  HTTP    http://127.0.0.1:4321
  gRPC    grpc://127.0.0.1:4322
  data    /data
  frames  3
  open    http://127.0.0.1:4321/
  try     curl 'http://127.0.0.1:4321/exec?handle=trades&fmt=json&limit=3'
`);
  });

  it('shows the token in the line to try where callers need one', async () => {
    const { stdout } = await serveOnce(runningServer(), ['--demo', '--auth-enabled']);
    expect(stdout).toContain('curl -H "Authorization: Bearer $FRAMEHOLD_TOKEN" \'http://127.0.0.1:4321/exec');
  });

  it('names the cold directory when it lies elsewhere', async () => {
    const { stdout } = await serveOnce(runningServer(), ['--parquet-path', '/cold']);
    expect(stdout).toContain('  cold    /cold\n');
  });

  it('shows an address to try that can be connected to', async () => {
    const { stdout } = await serveOnce(runningServer({ httpAddress: { host: '::', port: 9000 } }));
    expect(stdout).toContain('http://[::]:9000\n');
    expect(stdout).toContain("curl 'http://[::1]:9000/ping'");
  });
});

describe('the warning about open doors', () => {
  it('is one line that names the addresses others can reach', async () => {
    const { stderr } = await serveOnce(runningServer({ httpAddress: { host: '0.0.0.0', port: 9000 } }));
    const warnings = stderr.split('\n').filter((line) => line.includes('"warn"'));
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toContain('whoever can reach 0.0.0.0:9000 can read');
  });

  it('is not given on loopback', async () => {
    const { stderr } = await serveOnce(runningServer({ grpcAddress: { host: '::1', port: 1 } }));
    expect(stderr).not.toContain('"warn"');
  });
});

describe('a stop', () => {
  it('disposes the server before the exit', async () => {
    let disposed = false;
    const dispose = async () => {
      disposed = true;
    };
    const { exitCode } = await serveOnce(runningServer({ [Symbol.asyncDispose]: dispose }));
    expect({ exitCode, disposed }).toEqual({ exitCode: 0, disposed: true });
  });

  it('that does not finish ends anyway, two seconds after the delay and the grace', async () => {
    const server = runningServer({ [Symbol.asyncDispose]: () => new Promise(() => {}) });
    const startedMs = performance.now();
    const { exitCode, stderr } = await serveOnce(server, ['--shutdown-delay', '50ms', '--shutdown-grace', '50ms']);
    expect(exitCode).toBe(1);
    expect(stderr).toContain('framehold: not stopped after 2.1 s');
    expect(performance.now() - startedMs).toBeGreaterThan(2000);
  });

  it('during the start waits for the start, then disposes', async () => {
    let finishStart: (server: RunningServer) => void = () => {};
    const { environment, stop } = fakeEnvironment(
      () =>
        new Promise((resolve) => {
          finishStart = resolve;
        }),
    );
    const exit = run(environment, ['server']);
    await expect.poll(() => finishStart.length).toBe(1);
    stop();
    finishStart(runningServer());
    expect(await exit).toBe(0);
  });
});

describe('a start that fails', () => {
  it('on a taken port names the address and the setting that moves it', async () => {
    const first = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => first.once('listening', resolve));
    const address = first.address();
    const port = typeof address === 'object' ? address?.port : undefined;
    const taken = await new Promise((resolve) => createServer().once('error', resolve).listen(port, '127.0.0.1'));
    first.close();

    const http = await failure(new Error('HTTP listener', { cause: taken }), [
      '--http-bind-address',
      `127.0.0.1:${port}`,
    ]);
    expect(http).toEqual({
      exitCode: 1,
      line: `framehold: the HTTP address 127.0.0.1:${port} is taken by another program; choose another with --http-bind-address or FRAMEHOLD_HTTP_BIND_ADDRESS\n`,
    });
    const grpc = await failure(taken, ['--grpc-port', `${port}`]);
    expect(grpc.line).toContain(`the gRPC address 0.0.0.0:${port} is taken`);
    expect(grpc.line).toContain('--grpc-port');
  });

  it('says what to do where that is known', async () => {
    const { exitCode, line } = await failure(
      new AppError('storage_read_only', 'cannot write to /data', { hint: 'remount it' }),
    );
    expect({ exitCode, line }).toEqual({
      exitCode: 1,
      line: 'framehold: could not start: cannot write to /data; remount it\n',
    });
  });

  it('is told on one line, whatever was thrown', async () => {
    const { exitCode, line } = await failure(new TypeError('a\nb'));
    expect({ exitCode, line }).toEqual({
      exitCode: 1,
      line: 'framehold: could not start: a b; --log-level debug shows where\n',
    });
  });
});
