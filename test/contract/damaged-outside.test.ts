import { readFile, rename, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { FlightClient } from '../support/flight-client.ts';
import { type Framehold, startFramehold } from '../support/framehold.ts';
import { putSql } from '../support/frames.ts';
import { ask } from '../support/http-client.ts';
import { importRaw } from '../support/import-client.ts';
import { repeatedParquet } from '../support/repeated-parquet.ts';

let server: Framehold;
beforeAll(async () => {
  server = await startFramehold({ settings: { 'compression.level': '1' } });
  await putSql(server.frames, 'sound', 'SELECT md5(range::VARCHAR) AS text FROM range(5000)');
  const cold = join(server.dataDir, 'cold');
  const bytes = await readFile(join(cold, 'sound.parquet'));
  const path = join(cold, '.coming');
  // Its footer is sound, so that it is taken for a frame; its pages cannot be read.
  await writeFile(path, bytes.fill(0x55, 4, 5000));
  await utimes(path, 1_600_000_000, 1_600_000_000);
  await rename(path, join(cold, 'broken.parquet'));
});
afterAll(() => server[Symbol.asyncDispose]());

test.each([
  'exec?handle=broken&fmt=json',
  'exec?query=select+*+from+broken&engine=local&fmt=json',
  'exec?query=select+max(text)+from+broken&engine=local&fmt=json',
  'exp?handle=broken&fmt=csv',
  'exp?handle=broken&fmt=parquet&limit=100',
  'exp?handle=broken&fmt=parquet&compression_codec=snappy',
  'exp?query=select+*+from+broken&engine=local&fmt=parquet',
])('%s says that the frame is damaged, and nothing of the inside', async (target) => {
  const answer = await ask(`${server.url}/${target}`);
  expect([answer.status, answer.json().code]).toEqual([500, 'frame_damaged']);
  expect(answer.text).not.toMatch(/\/tmp\/|\.framehold|ZSTD/i);
});

test('DoGet says the same of the frame and of SQL over it', async () => {
  using client = new FlightClient(server.grpcAddress.port);
  expect((await client.get('broken')).code).toBe('frame_damaged');
  expect((await client.get('select * from broken')).code).toBe('frame_damaged');
});

describe('a file of few bytes whose footer names one column chunk 2,000 times', () => {
  const bomb = repeatedParquet({ groupRows: 25_000_000, groups: 2000, overlaps: true });

  test('is refused when it is uploaded', async () => {
    const answer = await importRaw(server, 'name=bomb&format=parquet', bomb);
    expect([answer.status, answer.json().code]).toEqual([400, 'invalid_input']);
    expect(answer.json().error).toContain('column chunks overlap at byte 4');
  });

  test('is no frame when it is moved in', async () => {
    const path = join(server.dataDir, 'cold', '.bomb');
    await writeFile(path, bomb);
    await rename(path, join(server.dataDir, 'cold', 'moved.parquet'));
    await expect.poll(server.log, { timeout: 10_000 }).toContain('column chunks overlap at byte 4');
    expect((await ask(`${server.url}/exec?handle=moved&fmt=json`)).status).not.toBe(200);
  });
});
