import { bytesField, type FrameLimits, MessageReader, messagePrefix } from '@framehold/grpc';
import { tableFromArrays, tableToIPC } from 'apache-arrow';
import { expect, test, vi } from 'vitest';
import { flightDataOf } from '../../../test/support/flight-client.ts';
import { FairShares } from '../../core/async/fair-shares.ts';
import { uploadedParameters } from '../sql/statements/uploaded-parameters.ts';
import { openFlightUpload } from './flight-upload.ts';

function messages(all: readonly Uint8Array[], chunkBytes = 65_536, limits?: Partial<FrameLimits>): MessageReader {
  const body = Buffer.concat(all.flatMap((message) => [messagePrefix(message.length), message]));
  async function* chunks(): AsyncGenerator<Buffer> {
    for (let at = 0; at < body.length; at += chunkBytes) yield body.subarray(at, at + chunkBytes);
  }
  return new MessageReader(chunks(), { maxMessageBytes: 2 ** 28, encoding: undefined, ...limits });
}

test('a first message of more than 16 MiB, which would be held to the end, is refused', async () => {
  await expect(openFlightUpload(messages([Buffer.alloc(16 * 1024 * 1024 + 1)]))).rejects.toMatchObject({
    code: 'too_large',
  });
});

test('an upload without any message is refused', async () => {
  await expect(openFlightUpload(messages([]))).rejects.toMatchObject({ code: 'invalid_input' });
});

const schema = bytesField(2, Buffer.alloc(16, 's'));
const header = bytesField(2, Buffer.alloc(8, 'h'));
const body = bytesField(1000, Buffer.alloc(40, 'b'));
const metadata = bytesField(3, Buffer.from('{}'));
const batch = Buffer.concat([header, body]);

async function streamOf(all: readonly Uint8Array[], chunkBytes: number): Promise<string> {
  const upload = await openFlightUpload(messages(all, chunkBytes));
  expect(Buffer.from(await upload.metadata()).toString()).toBe('{}');
  const pieces: Uint8Array[] = [];
  for await (const piece of upload.ipcStream()) pieces.push(piece);
  return Buffer.concat(pieces).toString('latin1');
}

test.each([
  ['whose bodies come last', [schema, metadata, batch, batch]],
  ['with metadata on its first batch', [schema, Buffer.concat([metadata, batch]), batch]],
  ['with metadata on its schema', [Buffer.concat([schema, metadata]), batch, batch]],
  ['whose bodies come first', [schema, Buffer.concat([metadata, body, header]), Buffer.concat([body, header])]],
  ['that has empty messages', [schema, Buffer.alloc(0), metadata, batch, Buffer.alloc(0), batch]],
])('an upload %s is the same stream however it is cut', async (_, all) => {
  const whole = await streamOf(all, 1 << 20);
  expect(whole.match(/s{16}|h{8}|b{40}/g)).toEqual(['s', 'h', 'b', 'h', 'b'].map((c) => expect.stringContaining(c)));
  expect(whole.length).toBe(24 + 2 * (16 + 40) + 8);
  for (let chunkBytes = 1; chunkBytes < 80; chunkBytes++) expect(await streamOf(all, chunkBytes)).toBe(whole);
});

/** Schema, the dictionary of a column of texts, and a record batch. */
function dictionaryUpload(text: string): { whole: Buffer; parts: Buffer[] } {
  const whole = Buffer.from(tableToIPC(tableFromArrays({ text: [text, text] }), 'stream'));
  const parts = flightDataOf(whole).map(({ dataHeader, dataBody }) =>
    Buffer.concat([bytesField(2, dataHeader), bytesField(1000, dataBody)]),
  );
  expect(parts.length).toBe(3);
  return { whole, parts };
}

const withMetadata = (message: Uint8Array | undefined) => Buffer.concat([metadata, message ?? Buffer.alloc(0)]);

test('metadata on the first batch is seen behind the dictionaries, and the stream stays the same however it is cut', async () => {
  const {
    whole,
    parts: [schema, dictionary, batch],
  } = dictionaryUpload('x'.repeat(300));
  for (const chunkBytes of [1, 7, 64, 500, 1 << 20]) {
    const all = [schema, dictionary, withMetadata(batch)] as Buffer[];
    expect(Buffer.from(await streamOf(all, chunkBytes), 'latin1').equals(whole)).toBe(true);
  }
});

test('behind dictionaries too large to be held, a batch may come without metadata but not with it', async () => {
  const { whole, parts } = dictionaryUpload('x'.repeat(17 << 20));
  const [schema, dictionary, batch] = parts as [Buffer, Buffer, Buffer];
  const opened = async (...last: Buffer[]) => {
    const upload = await openFlightUpload(messages([schema, dictionary, ...last]));
    expect(await upload.metadata()).toHaveLength(0);
    const pieces: Uint8Array[] = [];
    for await (const piece of upload.ipcStream()) pieces.push(piece);
    return Buffer.concat(pieces);
  };
  const tooLate = { code: 'invalid_input', message: expect.stringContaining('too late') };
  expect((await opened(batch)).equals(whole)).toBe(true);
  await expect(opened(withMetadata(batch))).rejects.toMatchObject(tooLate);
  await expect(opened(Buffer.alloc(0), withMetadata(batch))).rejects.toMatchObject(tooLate);
});

test('many small dictionaries are held no more than a large one', async () => {
  const { parts } = dictionaryUpload('x');
  const [schema, dictionary, batch] = parts as [Buffer, Buffer, Buffer];
  const upload = await openFlightUpload(messages([schema, ...Array(20_000).fill(dictionary), withMetadata(batch)]));
  expect(await upload.metadata()).toHaveLength(0);
  const ended = (async () => {
    for await (const _ of upload.ipcStream());
  })();
  await expect(ended).rejects.toMatchObject({ code: 'invalid_input' });
});

test('a body without a header is refused, also before all of it has come', async () => {
  for (const chunkBytes of [1, 40, 1000]) {
    const upload = await openFlightUpload(messages([schema, bytesField(1000, Buffer.alloc(100))], chunkBytes));
    await expect(upload.metadata()).rejects.toMatchObject({ code: 'invalid_input' });
  }
});

test('what uploads keep to their end is counted together, each once: first messages, dictionaries, parameters', async () => {
  const { parts } = dictionaryUpload('x'.repeat(10_000));
  const shares = new FairShares({ units: 40_000, what: 'bytes', reserve: 0, waitMs: 5000 });
  const open = (sent: readonly Buffer[] = parts) => {
    const memory = shares.open({ lane: 'a' });
    return { memory, opened: openFlightUpload(messages(sent, 1000, { memory })) };
  };
  vi.useFakeTimers();
  try {
    const dictionaries = open();
    await (await dictionaries.opened).metadata();
    const ofDictionaries = dictionaries.memory.units;
    expect([ofDictionaries > 10_000, ofDictionaries < 13_000]).toEqual([true, true]);
    const parameters = open();
    expect((await uploadedParameters(await parameters.opened))?.length).toBeGreaterThan(10_000);
    expect(parameters.memory.units).toBeLessThan(13_000);
    const more = [open(), open()];
    const bound = Promise.allSettled(more.map(async ({ opened }) => uploadedParameters(await opened)));
    await vi.advanceTimersByTimeAsync(6000);
    expect(await bound).toContainEqual({
      status: 'rejected',
      reason: expect.objectContaining({ code: 'overloaded', retryAfterSeconds: 1 }),
    });

    for (const { memory } of [dictionaries, parameters, ...more]) memory[Symbol.dispose]();
    expect(shares.figures.held).toBe(0);
    const ballast = open([Buffer.concat([schema, bytesField(9, Buffer.alloc(30_000))])]);
    await ballast.opened;
    expect(shares.figures.held).toBeLessThan(1000);
    ballast.memory[Symbol.dispose]();

    const large = Buffer.concat([schema, bytesField(3, Buffer.alloc(8000))]);
    const firsts = Promise.all(Array.from({ length: 10 }, () => open([large]).opened));
    const refused = expect(firsts).rejects.toMatchObject({ code: 'overloaded' });
    await vi.advanceTimersByTimeAsync(6000);
    await refused;
  } finally {
    vi.useRealTimers();
  }
});
