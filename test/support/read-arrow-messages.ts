import { type ArrowMessage, arrowMessages } from '../../src/encoding/arrow/input/arrow-messages.ts';

/** What our reader makes of messages, one behind the other. */
export async function messagesOf(...messages: Uint8Array[]): Promise<ArrowMessage[]> {
  async function* input(): AsyncGenerator<Uint8Array> {
    yield* messages;
  }
  const all: ArrowMessage[] = [];
  for await (const message of arrowMessages(input())) all.push(message);
  return all;
}
