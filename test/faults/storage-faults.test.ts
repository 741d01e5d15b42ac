import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startFramehold } from '../support/framehold.ts';
import { putSql } from '../support/frames.ts';
import { ask } from '../support/http-client.ts';
import { privateFiles } from '../support/private-files.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const random = (rows: number): string => `SELECT md5(range::VARCHAR) AS text FROM range(${rows})`;

test('what an earlier process left half-written is swept, and no frame comes of it', async () => {
  await using directory = await temporaryDirectory();
  const folder = join(directory.path, 'cold', '.framehold', 'tmp');
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'OLDOLD00-1234567890123456.parquet'), 'PAR1 half');
  await using server = await startFramehold({ dataDir: directory.path });
  await putSql(server.frames, 'kept', random(10));
  expect(privateFiles(join(directory.path, 'cold'), 'tmp')).toEqual([]);
  expect((await ask(`${server.url}/exec?handle=kept&fmt=json`)).json()).toMatchObject({ count: 10 });
});
