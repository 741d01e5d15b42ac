import type { DataType } from '@framehold/columns';
import { expect, it } from 'vitest';
import { frameTable } from '../../../test/support/spark-engine.ts';
import { frameRelation } from './frame-relations.ts';
import { PathMap } from './path-map.ts';

const interval: DataType = { kind: 'interval' };
const number: DataType = { kind: 'int', bits: 32, signed: true };
const options = { flavour: 'spark', pathMap: new PathMap('/cold', undefined) } as const;
const relationOf = (type: DataType) =>
  frameRelation({ ...frameTable('f', ['/cold/f.parquet']), columns: [{ name: 'c', type }] }, options);

it.each<DataType>([
  interval,
  { kind: 'list', element: interval },
  { kind: 'array', element: interval, size: 2 },
  { kind: 'map', key: number, value: interval },
  { kind: 'struct', fields: [{ name: 'a', type: { kind: 'list', element: interval } }] },
  { kind: 'union', members: [{ name: 'a', type: interval }] },
])('a frame with intervals is refused, wherever they are: %j', (type) => {
  expect(() => relationOf(type)).toThrow(expect.objectContaining({ code: 'unsupported_type' }));
});

it('a field may be called interval', () => {
  expect(relationOf({ kind: 'struct', fields: [{ name: 'interval', type: number }] }).length).toBeGreaterThan(0);
});
