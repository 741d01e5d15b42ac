import { connect, type Socket } from 'node:net';
import { setTimeout as delay, setImmediate as immediate } from 'node:timers/promises';
import { flag, frame, frameType, headBytes, ping, preface, settings } from './http2-frames.ts';

/** A socket on which anything may be written. What the server sends is cut into frames, counted and forgotten. */
export class RawConnection implements Disposable {
  readonly socket: Socket;
  readonly closed: Promise<void>;
  /** How many frames came, by their type. */
  readonly received = new Map<number, number>();
  /** Streams that the server has ended or reset. */
  readonly ended = new Set<number>();
  answeredPings = 0;
  dataBytes = 0;
  #rest: Buffer = Buffer.alloc(0);

  constructor(port: number, { acknowledges = true }: { readonly acknowledges?: boolean } = {}) {
    this.socket = connect({ port, host: '127.0.0.1', noDelay: true });
    this.socket.on('error', () => {});
    this.closed = new Promise((resolve) => this.socket.once('close', () => resolve()));
    this.socket.on('data', (bytes: Buffer) => {
      this.#rest = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes]);
      while (this.#rest.length >= headBytes) {
        const length = this.#rest.readUIntBE(0, 3);
        if (this.#rest.length < headBytes + length) break;
        const [type, flags] = [this.#rest[3] as number, this.#rest[4] as number];
        const stream = this.#rest.readUInt32BE(5);
        const payload = this.#rest.subarray(headBytes, headBytes + length);
        this.#rest = this.#rest.subarray(headBytes + length);
        this.received.set(type, (this.received.get(type) ?? 0) + 1);
        if (type === frameType.data) this.dataBytes += length;
        if (type === frameType.ping && (flags & flag.acknowledge) !== 0) this.answeredPings++;
        const mayEnd = type === frameType.data || type === frameType.headers;
        if (type === frameType.rstStream || (mayEnd && (flags & flag.endStream) !== 0)) this.ended.add(stream);
        if (!acknowledges || (flags & flag.acknowledge) !== 0) continue;
        if (type === frameType.ping) this.write(frame(type, flag.acknowledge, 0, payload));
        if (type === frameType.settings) this.write(frame(type, flag.acknowledge, 0));
      }
    });
  }

  /** One that has greeted as HTTP/2 wants it. */
  static open(port: number, ...pairs: readonly (readonly [number, number])[]): RawConnection {
    const connection = new RawConnection(port);
    connection.write(preface, settings(...pairs));
    return connection;
  }

  get isClosed(): boolean {
    return this.socket.closed;
  }

  /** Whether the socket takes more at once. */
  write(...pieces: readonly Uint8Array[]): boolean {
    if (this.socket.destroyed || this.socket.writableEnded) return false;
    return this.socket.write(pieces.length === 1 ? (pieces[0] as Uint8Array) : Buffer.concat(pieces));
  }

  /** Writes as fast as the server reads, until there is nothing more, the server has closed, or the time is over. */
  async flood(pieces: Iterable<Uint8Array>, untilMs: number): Promise<number> {
    let bytes = 0;
    let restedAt = performance.now();
    for (const piece of pieces) {
      if (this.socket.destroyed || performance.now() > untilMs) break;
      // A server that takes all at once never lets a write wait, and the others of this process have their turn too.
      if (performance.now() - restedAt > 5) {
        await immediate();
        restedAt = performance.now();
      }
      bytes += piece.length;
      if (this.write(piece)) continue;
      await Promise.race([this.closed, new Promise((resolve) => this.socket.once('drain', resolve)), delay(1000)]);
    }
    return bytes;
  }

  /** Whether the server answers a ping in time, and so has read all that was sent before it. */
  async pings(ms: number): Promise<boolean> {
    const before = this.answeredPings;
    this.write(ping());
    const untilMs = performance.now() + ms;
    while (this.answeredPings === before && performance.now() < untilMs && !this.isClosed) await delay(20);
    return this.answeredPings > before;
  }

  async closesWithin(ms: number): Promise<boolean> {
    if (this.isClosed) return true;
    const waiting = new AbortController();
    const late = delay(ms, false, { signal: waiting.signal }).catch(() => false);
    const isClosed = await Promise.race([this.closed.then(() => true), late]);
    waiting.abort();
    return isClosed;
  }

  [Symbol.dispose](): void {
    this.socket.destroy();
  }
}
