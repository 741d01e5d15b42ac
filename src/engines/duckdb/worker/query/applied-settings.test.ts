import { beforeEach, expect, test } from 'vitest';
import { duckDbConnection } from '../../../../../test/support/duckdb-connection.ts';
import { type StatementSettings, settingNames, statementSettings } from '../../../../core/sql/statement-settings.ts';
import { AppliedSettings } from './applied-settings.ts';

const connection = duckDbConnection();
let settings = new AppliedSettings(connection);
beforeEach(async () => {
  for (const [name, { standard }] of Object.entries(statementSettings))
    await connection.run(`SET ${name} = '${standard}'`);
  settings = new AppliedSettings(connection);
});

const berlin: StatementSettings = { TimeZone: 'Europe/Berlin' };

async function current(name: string): Promise<string> {
  const [row] = await connection.rows<{ value: string }>(`SELECT current_setting('${name}')::VARCHAR AS value`);
  return row?.value ?? '';
}

test('the standard of each setting is what DuckDB has by itself', async () => {
  const rows = await duckDbConnection().rows<{ name: string; value: string }>(
    'SELECT name, value FROM duckdb_settings()',
  );
  for (const name of settingNames.filter((each) => each !== 'TimeZone')) {
    const own = rows.find((row) => row.name === name)?.value.replace('ASCENDING', 'ASC');
    expect([name, own]).toEqual([name, statementSettings[name]?.standard]);
  }
});

test('what a job does not set has the standard again', async () => {
  await settings.apply({ ...berlin, default_order: 'DESC' });
  expect([await current('TimeZone'), await current('default_order')]).toEqual(['Europe/Berlin', 'DESC']);
  await settings.apply({ default_order: 'DESC' });
  expect([await current('TimeZone'), await current('default_order')]).toEqual(['UTC', 'DESC']);
  await settings.apply(undefined);
  expect(await current('default_order')).toBe('ASC');
});

test('behind a setting that DuckDB refuses, those before it are taken back', async () => {
  await expect(settings.apply({ ...berlin, default_collation: 'nope' })).rejects.toMatchObject({
    code: 'invalid_parameter',
  });
  expect(await current('TimeZone')).toBe('Europe/Berlin');
  await settings.apply(undefined);
  expect([await current('TimeZone'), await current('default_collation')]).toEqual(['UTC', '']);
});

test('a connection that does not take the standard back is spoilt', async () => {
  await settings.apply(berlin);
  await connection.run("SET allowed_configs = ['Calendar']");
  await connection.run('SET lock_configuration = true');
  await expect(settings.apply(undefined)).rejects.toThrow('DuckDB does not take back TimeZone');
  expect(connection.isSpoilt).toBe(true);
});
