/**
 * A queue in which clients take turns, and among the requests of one client its connections: neither a busy connection
 * nor a client with many of them holds up the others. A lane is `client#connection`; without a `#` it is a client's only one.
 */
export class FairQueue<T> {
  readonly #clients = new Map<string, Map<string, T[]>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  push(lane: string, item: T): void {
    const client = clientOf(lane);
    const lanes = this.#clients.get(client) ?? new Map<string, T[]>();
    this.#clients.set(client, lanes);
    const waiting = lanes.get(lane);
    if (waiting === undefined) lanes.set(lane, [item]);
    else waiting.push(item);
    this.#size++;
  }

  /** The next item of the lane whose turn it is; that lane and its client go to the end. */
  shift(): T | undefined {
    const [client, lanes] = first(this.#clients) ?? [];
    if (client === undefined || lanes === undefined) return undefined;
    const [lane, waiting] = first(lanes) ?? [];
    if (lane === undefined || waiting === undefined) return undefined;
    const item = waiting.shift();
    lanes.delete(lane);
    if (waiting.length > 0) lanes.set(lane, waiting);
    this.#clients.delete(client);
    if (lanes.size > 0) this.#clients.set(client, lanes);
    this.#size--;
    return item;
  }

  remove(lane: string, item: T): boolean {
    const client = clientOf(lane);
    const lanes = this.#clients.get(client);
    const waiting = lanes?.get(lane);
    const index = waiting?.indexOf(item) ?? -1;
    if (lanes === undefined || waiting === undefined || index < 0) return false;
    waiting.splice(index, 1);
    if (waiting.length === 0) lanes.delete(lane);
    if (lanes.size === 0) this.#clients.delete(client);
    this.#size--;
    return true;
  }
}

function clientOf(lane: string): string {
  const end = lane.indexOf('#');
  return end < 0 ? lane : lane.slice(0, end);
}

function first<K, V>(map: ReadonlyMap<K, V>): [K, V] | undefined {
  for (const entry of map) return entry;
  return undefined;
}
