import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { runTestFile } from '../sql/support/run-test-file.ts';
import { httpDoor } from '../sql/support/sql-door.ts';
import { testFilesIn } from '../sql/support/test-file.ts';
import type { EngineDoor } from './support/engine-door.ts';

export interface EngineOfFiles {
  readonly label: 'spark' | 'sail';
  /** Open before the first test. Its engine is `cluster`. */
  door(): EngineDoor;
}

/** The files of `test/sql` that name this engine. One after another: they share the names of one tenant. */
export function sqlFiles({ label, door }: EngineOfFiles): void {
  const files = testFilesIn(fileURLToPath(new URL('../sql', import.meta.url)));
  const shared = files.filter(({ engines }) => engines.includes(label));

  describe.sequential('SQL that other engines answer as well', () => {
    test.each(shared.map((file) => [`${file.path}: ${file.title}`, file] as const))('%s', async (_, file) => {
      const { server } = door();
      const sql = httpDoor(server, { cluster: label });
      const local = httpDoor(server);
      const before = new Set((await local.query('SHOW TABLES', [])).flat());
      try {
        expect(await runTestFile(file, sql)).toEqual([]);
      } finally {
        const after = (await local.query('SHOW TABLES', [])).flat();
        for (const name of after.filter((name) => !before.has(name))) await local.run(`DROP TABLE "${name}"`, []);
      }
    });
  });
}
