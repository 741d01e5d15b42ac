import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const program = fileURLToPath(new URL('../clients/python/otlp_receiver.py', import.meta.url));

/** A span as the receiver read it. */
export interface ReceivedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | null;
  readonly name: string;
  readonly kind: number;
  /** Unix nanoseconds. */
  readonly start: number;
  readonly end: number;
  readonly attributes: Readonly<Record<string, string | number | boolean>>;
  readonly resource: Readonly<Record<string, string>>;
  readonly status: number;
  readonly authorization: string | null;
}

export interface OtlpReceiver extends AsyncDisposable {
  readonly port: number;
  readonly url: string;
  readonly spans: readonly ReceivedSpan[];
}

/** A receiver of OTLP in Python, on the messages of OpenTelemetry itself. `status`: its answer in place of accepting. */
export async function startOtlpReceiver(
  python: string,
  { status }: { readonly status?: number } = {},
): Promise<OtlpReceiver> {
  const child = spawn(python, [program, ...(status === undefined ? [] : [String(status)])], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  const spans: ReceivedSpan[] = [];
  const port = await new Promise<number>((resolve, reject) => {
    exited.then(() => reject(new Error('the receiver of traces ended')));
    createInterface(child.stdout).on('line', (line) => {
      const told = JSON.parse(line);
      if ('port' in told) resolve(told.port);
      else spans.push(told);
    });
  });
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    spans,
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await exited;
    },
  };
}
