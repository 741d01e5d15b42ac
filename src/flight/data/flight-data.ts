import { splitMessage } from '@framehold/arrow-ipc';
import { giveMemory } from '@framehold/columns';
import { bytesField, type Message, type NotedMessage } from '@framehold/grpc';

const headerTag = 0x12;
const metadataTag = 0x1a;
const bodyTag = [0xc2, 0x3e] as const;
/**
 * Clients read values in place: a body at a multiple of 8 in its message need not be copied first. The header stays a multiple of
 * 8 itself, since some clients join the two unchanged; so the lengths are padded.
 */
const lengthBytes = 5;

/** FlightData of an encapsulated schema: how every download begins. */
export function schemaData(message: Uint8Array): Message {
  return bytesField(2, splitMessage(message).header);
}

/** The same as `batchData`, for a message whose memory is given back once it is sent. */
export function ownedBatchData(message: Uint8Array): NotedMessage {
  return { pieces: batchData(message), onSent: () => giveMemory(message) };
}

/** FlightData of an encapsulated record batch. The body is not copied. `metadata`: up to 125 bytes, 8 n + 6 of them. */
export function batchData(message: Uint8Array, metadata?: Uint8Array): Uint8Array[] {
  const { header, body } = splitMessage(message);
  const ofHeader = varintBytes(header.length);
  const ofBody = Math.max(varintBytes(body.length), lengthBytes - ofHeader);
  const ofMetadata = metadata === undefined ? 0 : 2 + metadata.length;
  const metadataAt = 1 + ofHeader + header.length;
  const head = Buffer.allocUnsafe(metadataAt + ofMetadata + bodyTag.length + ofBody);
  head[0] = headerTag;
  writeVarint(head, 1, header.length, ofHeader);
  head.set(header, 1 + ofHeader);
  if (metadata !== undefined) {
    head.set([metadataTag, metadata.length], metadataAt);
    head.set(metadata, metadataAt + 2);
  }
  head.set(bodyTag, metadataAt + ofMetadata);
  writeVarint(head, head.length - ofBody, body.length, ofBody);
  return [head, body];
}

/** JSON of the length that `batchData` takes: spaces at its end mean nothing. */
export function paddedJson(value: object): Uint8Array {
  const text = JSON.stringify(value);
  return Buffer.from(text.padEnd(Math.ceil((text.length + 2) / 8) * 8 - 2));
}

function varintBytes(value: number): number {
  let bytes = 1;
  for (let rest = value; rest > 0x7f; rest = Math.floor(rest / 128)) bytes++;
  return bytes;
}

/** In this many bytes, which may be more than it needs. */
function writeVarint(target: Uint8Array, at: number, value: number, bytes: number): void {
  let rest = value;
  for (let n = 0; n < bytes; n++) {
    target[at + n] = (rest % 128) | (n < bytes - 1 ? 0x80 : 0);
    rest = Math.floor(rest / 128);
  }
}
