import { type ArrowMessage, arrowMessages } from '@framehold/arrow-ipc';

/** The messages as our reader reads them, one behind the other. Copied: the bodies of batches share their memory. */
export async function messagesOf(...messages: Uint8Array[]): Promise<ArrowMessage[]> {
  async function* input(): AsyncGenerator<Uint8Array> {
    yield* messages;
  }
  const all: ArrowMessage[] = [];
  for await (const message of arrowMessages(input())) all.push({ ...message, body: new Uint8Array(message.body) });
  return all;
}
