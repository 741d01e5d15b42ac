import { untypedNull } from '@framehold/arrow-ipc';
import { expect, it } from 'vitest';
import { columnsOfStruct, emptyType, SparkType } from './spark-type.ts';

it('Spark’s type of a bare NULL is that as which its values arrive, in lists too', () => {
  const nothing = SparkType.encode({ ...emptyType, null: {} });
  const list = SparkType.encode({ ...emptyType, array: { elementType: nothing, containsNull: true } });
  const fields = [
    { name: 'a', dataType: nothing },
    { name: 'b', dataType: list },
  ];
  expect(columnsOfStruct(SparkType.encode({ ...emptyType, struct: { fields } }))).toEqual([
    { name: 'a', type: untypedNull },
    { name: 'b', type: { kind: 'list', element: untypedNull } },
  ]);
});
