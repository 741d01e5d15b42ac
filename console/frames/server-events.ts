import type { HttpAnswer } from '#client/transport.ts';

/** An event of a stream of server-sent events. */
export interface ServerEvent {
  readonly event: string;
  readonly data: string;
}

/** Takes pieces of such a stream as they arrive, and returns the completed events. */
export class ServerEventParser {
  #rest = '';

  push(text: string): ServerEvent[] {
    const blocks = (this.#rest + text).split(/\r?\n\r?\n/);
    this.#rest = blocks.pop() ?? '';
    return blocks.map(parseBlock).filter((event) => event !== undefined);
  }
}

function parseBlock(block: string): ServerEvent | undefined {
  let event = 'message';
  const data: string[] = [];
  for (const line of block.split(/\r?\n/)) {
    const [, name, value] = /^([^:]+):? ?(.*)$/.exec(line) ?? [];
    if (name === 'event') event = value ?? '';
    else if (name === 'data') data.push(value ?? '');
  }
  return data.length === 0 ? undefined : { event, data: data.join('\n') };
}

/** EventSource sends no credential; a request that is read as it comes does. */
export async function* readServerEvents(answer: HttpAnswer): AsyncGenerator<ServerEvent> {
  const decoder = new TextDecoder();
  const parser = new ServerEventParser();
  for await (const piece of answer) yield* parser.push(decoder.decode(piece, { stream: true }));
}
