import { expect, test } from 'vitest';
import { load } from '../../test/support/config-sources.ts';
import { silentLogger } from '../core/logs/logger.ts';
import type { Config } from './config.ts';
import { SettingsReload } from './settings-reload.ts';

const withHosts = (host: string) => load({ toml: `[http]\nhosts = ["${host}"]` });

test('reloads run one at a time, and those that wait become one, which sees the newest file', async () => {
  let found = withHosts('first.example');
  const reload = new SettingsReload(found, () => found, silentLogger);
  const steps: string[] = [];
  const ends: (() => void)[] = [];
  const target = {
    applySettings: ({ http }: Config) => void steps.push(`apply ${http.hosts?.[0]}`),
    rereadFiles: async () => {
      await new Promise<void>((resolve) => ends.push(resolve));
      steps.push('read');
    },
  };
  found = withHosts('second.example');
  const first = reload.run(target);
  await expect.poll(() => ends.length).toBe(1);
  found = withHosts('third.example');
  const [second, third] = [reload.run(target), reload.run(target)];
  expect(steps).toEqual(['apply second.example']);
  ends[0]?.();
  await first;
  await expect.poll(() => ends.length).toBe(2);
  ends[1]?.();
  await Promise.all([second, third]);
  expect(steps).toEqual(['apply second.example', 'read', 'apply third.example', 'read']);
  expect(reload.config.http.hosts).toEqual(['third.example']);
});

test('a reload that cannot load the settings still reads the files again', async () => {
  let reads = 0;
  const fail = (): never => {
    throw new Error('no');
  };
  const reload = new SettingsReload(withHosts('a.example'), fail, silentLogger);
  await reload.run({
    applySettings: fail,
    rereadFiles: async () => {
      reads++;
    },
  });
  expect(reads).toBe(1);
  expect(reload.config.http.hosts).toEqual(['a.example']);
});
