import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import type { Definition } from '../../core/sql/definition.ts';
import { DefinitionFolder } from './definition-folder.ts';
import { DurableFiles } from './durable-file.ts';

const path = await mkdtemp(join(tmpdir(), 'framehold-definitions-'));
afterAll(() => rm(path, { recursive: true }));

function macro(name: string, kind: Definition['kind'] = 'macro'): Definition {
  return { kind, name, id: name, forms: [{ parameters: [], sql: '1', body: ['1'] }] };
}

test('so many macros and types are kept, and no more', async () => {
  const folder = new DefinitionFolder(join(path, 'few'), new DurableFiles(), 2);
  expect(await folder.save(macro('a'), 'fail')).toBe(true);
  expect(await folder.save(macro('a', 'type'), 'fail')).toBe(true);
  await expect(folder.save(macro('b'), 'replace')).rejects.toMatchObject({ code: 'quota_exceeded' });
  expect(await folder.save(macro('A'), 'replace')).toBe(true);
  expect(await folder.remove(macro('a', 'type'))).toBe(true);
  expect(await folder.save(macro('b'), 'keep')).toBe(true);
  expect((await folder.all()).map(({ name }) => name)).toEqual(['A', 'b']);
});

test('of several that are made at once under a name one is kept', async () => {
  const folders = [1, 2, 3].map(() => new DefinitionFolder(join(path, 'same'), new DurableFiles()));
  const made = await Promise.allSettled(folders.map((folder) => folder.save(macro('one'), 'fail')));
  expect(made.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected', 'rejected']);
  expect(await folders[0]?.save(macro('one', 'table macro'), 'replace').catch(({ code }) => code)).toBe(
    'handle_exists',
  );
  expect(await folders[1]?.remove(macro('one', 'table macro'))).toBe(false);
});
