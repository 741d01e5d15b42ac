import { expect, test } from 'vitest';
import { silentLogger } from '../../core/logs/logger.ts';
import { WriteProbe } from './write-probe.ts';

test('a storage that does not answer cannot be written until it does', async () => {
  let answer = (): void => {};
  const silence = new Promise<void>((resolve) => {
    answer = resolve;
  });
  using probe = await WriteProbe.start(() => silence, silentLogger);
  expect(probe.trouble).toBe('storage_silent');
  answer();
  await expect.poll(() => probe.trouble).toBe(undefined);
});
