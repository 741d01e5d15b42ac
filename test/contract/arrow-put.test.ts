import { tableFromArrays, tableToIPC } from 'apache-arrow';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { anonymous } from '../../src/auth/identify.ts';
import { parseHandle } from '../../src/core/names/handle.ts';
import { type Framehold, startFramehold } from '../support/framehold.ts';
import { ask } from '../support/http-client.ts';

let server: Framehold;
beforeAll(async () => {
  server = await startFramehold();
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
});

const { signal } = new AbortController();
const ids = Int32Array.from({ length: 10_000 }, (_, n) => n);
const ipc = tableToIPC(tableFromArrays({ id: ids, text: Array.from(ids, (n) => `row ${n}`) }), 'stream');

async function* pieces(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

const put = (handle: string, stream: AsyncIterable<Uint8Array>) =>
  server.frames.put(
    anonymous,
    { handle: parseHandle(handle), mode: 'create', source: { kind: 'arrow', stream } },
    { signal },
  );

test('rows of an Arrow stream come out as they went in, however the stream is cut', async () => {
  for (const size of [777, 65_536]) {
    expect(await put(`arrow${size}`, pieces(ipc, size))).toMatchObject({ rows: 10_000, version: 1 });
    const answer = await ask(`${server.url}/exec?handle=arrow${size}&fmt=json&limit=9999,`);
    expect(answer.json()).toMatchObject({
      columns: [
        { name: 'id', type: 'INT' },
        { name: 'text', type: 'VARCHAR' },
      ],
      dataset: [
        [9998, 'row 9998'],
        [9999, 'row 9999'],
      ],
    });
  }
});

test('a stream that ends early, or fails, is refused and leaves nothing', async () => {
  await expect(put('cut', pieces(ipc.subarray(0, ipc.length / 2), 4096))).rejects.toMatchObject({
    code: 'invalid_input',
  });
  async function* failing(): AsyncGenerator<Uint8Array> {
    yield ipc.subarray(0, 5000);
    throw new Error('the upload broke off');
  }
  await expect(put('failed', failing())).rejects.toThrow('the upload broke off');
  for (const handle of ['cut', 'failed']) {
    expect((await ask(`${server.url}/exec?handle=${handle}&fmt=json`)).status).toBe(404);
  }
});

test('a stream that fails does not disturb the next one on the same worker', async () => {
  for (let n = 0; n < 5; n++) {
    await expect(put('garbage', pieces(Buffer.alloc(3_000_000, n), 100_000))).rejects.toMatchObject({
      code: 'invalid_input',
    });
    expect(await put(`after${n}`, pieces(ipc, 10_000))).toMatchObject({ rows: 10_000 });
  }
});
