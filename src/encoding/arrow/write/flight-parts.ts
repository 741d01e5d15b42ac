const prefixBytes = 8;

export interface MessageParts {
  /** The flatbuffer and its padding. */
  readonly header: Uint8Array;
  readonly body: Uint8Array;
}

/** Views of what Flight sends apart: `data_header` and `data_body` of an encapsulated message. */
export function splitMessage(message: Uint8Array): MessageParts {
  const view = new DataView(message.buffer, message.byteOffset, message.byteLength);
  const bodyAt = prefixBytes + view.getUint32(4, true);
  return { header: message.subarray(prefixBytes, bodyAt), body: message.subarray(bodyAt) };
}
