import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, type OutgoingHttpHeaders, request } from 'node:http';

export interface ReceivedEvent {
  readonly event: string;
  readonly id: string | undefined;
  readonly data: string;
}

/** Server-sent events of one answer, as they come. */
export class EventSource implements Disposable {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly events: ReceivedEvent[] = [];
  /** The server ended the answer. */
  hasEnded = false;
  readonly #outgoing: ClientRequest;
  #text = '';

  private constructor(outgoing: ClientRequest, incoming: IncomingMessage) {
    this.#outgoing = outgoing;
    this.status = incoming.statusCode ?? 0;
    this.headers = incoming.headers;
    incoming.setEncoding('utf8');
    incoming.on('data', (text: string) => this.#take(text));
    incoming.on('error', () => {});
    incoming.on('end', () => {
      this.hasEnded = true;
    });
  }

  static async open(url: string, headers: OutgoingHttpHeaders = {}): Promise<EventSource> {
    const outgoing = request(url, { headers, agent: false });
    outgoing.end();
    const [incoming] = (await once(outgoing, 'response')) as [IncomingMessage];
    outgoing.on('error', () => {});
    return new EventSource(outgoing, incoming);
  }

  /** Lines of rows so far. */
  get rows(): string[] {
    return this.events.filter(({ event }) => event === 'message').flatMap(({ data }) => data.split('\n'));
  }

  of(event: string): ReceivedEvent[] {
    return this.events.filter((each) => each.event === event);
  }

  [Symbol.dispose](): void {
    this.#outgoing.destroy();
  }

  #take(text: string): void {
    const blocks = (this.#text + text).split('\n\n');
    this.#text = blocks.pop() ?? '';
    for (const block of blocks) {
      const fields = block.split('\n').map((line) => line.split(/: (.*)/s));
      const values = (name: string) => fields.filter(([key]) => key === name).map(([, value = '']) => value);
      // One without data only sets the id.
      if (values('data').length === 0) continue;
      this.events.push({
        event: values('event')[0] ?? 'message',
        id: values('id')[0],
        data: values('data').join('\n'),
      });
    }
  }
}
