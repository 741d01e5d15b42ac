import { type ArrowMessage, arrowMessages } from '../../src/encoding/arrow/read/format/messages.ts';

/** What our reader makes of messages, one behind the other. Copied: the bodies of batches share their memory. */
export async function messagesOf(...messages: Uint8Array[]): Promise<ArrowMessage[]> {
  async function* input(): AsyncGenerator<Uint8Array> {
    yield* messages;
  }
  const all: ArrowMessage[] = [];
  for await (const message of arrowMessages(input())) all.push({ ...message, body: new Uint8Array(message.body) });
  return all;
}
