import { expect, test } from 'vitest';
import { importTextTable } from './text-table.ts';

test('the table is that of QuestDB 9.3', () => {
  const columns = [
    { name: 'ts', type: 'TIMESTAMP', size: 8, errors: 0 },
    { name: 'a_very_long_column_name_that_goes_on_and_on_for_ever', type: 'INT', size: 4, errors: 1 },
  ];
  const text = importTextTable({
    status: 'OK',
    location: 't2',
    handle: 't2',
    version: 1,
    rowsRejected: 1,
    rowsImported: 1,
    header: true,
    partitionBy: 'NONE',
    timestamp: 'ts',
    format: 'csv',
    columns,
    rejections: [],
    bytes: 1,
    ms: 1,
  });
  expect(text.split('\r\n')).toEqual([
    '+-----------------------------------------------------------------------------------------------------------------+',
    '|      Location:  |                                                t2  |        Pattern  | Locale  |      Errors  |',
    '|   Partition by  |                                              NONE  |                 |         |              |',
    '|      Timestamp  |                                                ts  |                 |         |              |',
    '+-----------------------------------------------------------------------------------------------------------------+',
    '|   Rows handled  |                                                 2  |                 |         |              |',
    '|  Rows imported  |                                                 1  |                 |         |              |',
    '+-----------------------------------------------------------------------------------------------------------------+',
    '|              0  |                                                ts  |                TIMESTAMP  |           0  |',
    '|              1  |...y_long_column_name_that_goes_on_and_on_for_ever  |                      INT  |           1  |',
    '+-----------------------------------------------------------------------------------------------------------------+',
    '',
  ]);
});
