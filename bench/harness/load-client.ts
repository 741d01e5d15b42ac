// The load generator's process; load.ts starts it. About as cheap as wrk: its cost is the kernel's copying.

import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { connect as connectTls, createSecureContext, type SecureContext } from 'node:tls';
import { Latencies, quantile } from './latencies.ts';
import type { LoadMessage, LoadResult, LoadSpec } from './load-spec.ts';
import { ResponseCounter } from './response-counter.ts';

/** All connections read into the same memory: each consumes it before the next one reads. */
const received = Buffer.allocUnsafeSlow(64 * 1024);

/** Time runs from when all connections are open to when the last counted answer ended, or, where there is none, to the end. */
class Load {
  readonly #spec: LoadSpec;
  readonly #requests: readonly Buffer[];
  /** Undefined: without TLS. */
  readonly #secureContext: SecureContext | undefined;
  readonly #done: (error?: Error) => void;
  readonly #sockets = new Set<Socket>();
  #next = 0;
  #started = 0;
  readonly #latencies = new Latencies();
  #underWay = 0;
  #lastAnswerAt = 0;
  #bytes = 0;
  #reconnects = 0;
  #over = false;

  constructor(spec: LoadSpec, done: (error?: Error) => void) {
    this.#spec = spec;
    this.#done = done;
    this.#requests = requestsOf(spec);
    this.#secureContext = spec.ca === undefined ? undefined : createSecureContext({ ca: spec.ca });
  }

  async start(): Promise<void> {
    const begin = await Promise.all(Array.from({ length: this.#spec.connections }, () => this.#open()));
    this.#started = performance.now();
    for (const send of begin) send();
    if ('ms' in this.#spec.until) setTimeout(() => this.#end(), this.#spec.until.ms);
  }

  result(cpu: NodeJS.CpuUsage): LoadResult {
    const sorted = this.#latencies.sorted();
    return {
      requests: this.#latencies.count,
      seconds: (this.#lastAnswerAt - this.#started) / 1000,
      bytes: this.#bytes,
      p50Ms: quantile(sorted, 0.5),
      p90Ms: quantile(sorted, 0.9),
      p99Ms: quantile(sorted, 0.99),
      p999Ms: quantile(sorted, 0.999),
      reconnects: this.#reconnects,
      clientCpuSeconds: (cpu.user + cpu.system) / 1e6,
      bySecond: this.#latencies.seconds(),
    };
  }

  /** Resolves, when connected, with a function that sends the connection's next request. */
  async #open(): Promise<() => void> {
    const counter = new ResponseCounter();
    let sentAt = 0;
    let isWaiting = false;
    const send = (): void => {
      const pauseMs = this.#pauseMs();
      if (pauseMs >= 1) {
        setTimeout(send, pauseMs);
        return;
      }
      const request = this.#take();
      isWaiting = request !== undefined;
      if (request === undefined) return;
      sentAt = performance.now();
      socket.write(request);
    };
    const take = (count: number): boolean => {
      if (this.#over) return false;
      try {
        this.#bytes += count;
        const ended = counter.take(received.subarray(0, count));
        if (ended > 1) throw new Error('more answers than requests');
        if (ended === 1) {
          this.#answered(sentAt);
          send();
        }
      } catch (error) {
        this.#end(error instanceof Error ? error : new Error(String(error)));
      }
      return true;
    };
    const socket = await this.#connect(take);
    this.#sockets.add(socket);
    socket.on('error', () => {});
    socket.once('close', () => {
      this.#sockets.delete(socket);
      if (this.#over || !isWaiting) return;
      if (counter.isBetween) this.#reopen();
      else this.#end(new Error('the server closed a connection in the middle of an answer'));
    });
    return send;
  }

  async #connect(callback: (count: number) => boolean): Promise<Socket> {
    const { host, port } = this.#spec;
    const options = { host, port, onread: { buffer: received, callback } };
    const secureContext = this.#secureContext;
    const socket = secureContext === undefined ? connect(options) : connectTls({ ...options, secureContext });
    socket.setNoDelay(true);
    await once(socket, secureContext === undefined ? 'connect' : 'secureConnect');
    return socket;
  }

  /** Servers close a connection after many requests. The request without an answer counts as not sent. */
  #reopen(): void {
    this.#reconnects++;
    this.#underWay--;
    if (this.#reconnects > 100 + this.#latencies.count) {
      this.#end(new Error('the server closes every connection'));
      return;
    }
    this.#open().then(
      (send) => send(),
      (error: Error) => this.#end(error),
    );
  }

  /** Until the next request is due. */
  #pauseMs(): number {
    const { perSecond } = this.#spec;
    if (perSecond === undefined) return 0;
    const dueAt = this.#started + ((this.#latencies.count + this.#underWay) * 1000) / perSecond;
    return dueAt - performance.now();
  }

  #take(): Buffer | undefined {
    if (this.#over) return undefined;
    const { until } = this.#spec;
    if ('requests' in until && this.#latencies.count + this.#underWay >= until.requests) return undefined;
    this.#underWay++;
    return this.#requests[this.#next++ % this.#requests.length];
  }

  #answered(sentAt: number): void {
    const now = performance.now();
    this.#latencies.add(now - this.#started, now - sentAt);
    this.#lastAnswerAt = now;
    this.#underWay--;
    const { until } = this.#spec;
    if ('requests' in until && this.#latencies.count === until.requests) this.#end();
  }

  #end(error?: Error): void {
    if (this.#over) return;
    this.#over = true;
    if (this.#latencies.count === 0) this.#lastAnswerAt = performance.now();
    for (const socket of this.#sockets) socket.destroy();
    this.#done(error);
  }
}

function requestsOf({ host, port, paths, bodies = [], credentials = [] }: LoadSpec): Buffer[] {
  return Array.from({ length: Math.max(paths.length, bodies.length, credentials.length) }, (_, at) => {
    const authorization = credentials[at % credentials.length];
    const body = bodies[at % bodies.length];
    const head = [
      `${body === undefined ? 'GET' : 'POST'} ${paths[at % paths.length]} HTTP/1.1`,
      `Host: ${host}:${port}`,
      ...(authorization === undefined ? [] : [`Authorization: ${authorization}`]),
      ...(body === undefined ? [] : [`Content-Length: ${Buffer.byteLength(body)}`]),
    ];
    return Buffer.from(`${head.join('\r\n')}\r\n\r\n${body ?? ''}`);
  });
}

process.once('message', (message) => {
  const report = (answer: LoadMessage): void => {
    process.send?.(answer, () => process.disconnect());
  };
  const cpuBefore = process.cpuUsage();
  const load = new Load(message as LoadSpec, (error) => {
    report(error === undefined ? { result: load.result(process.cpuUsage(cpuBefore)) } : { error: error.message });
  });
  load.start().catch((error: Error) => report({ error: error.message }));
});
process.once('disconnect', () => process.exit());
