import { expect, it } from 'vitest';
import { PathMap } from './path-map.ts';

it.each([
  ['/a b/ü', 'no file /a b/ü/frames/x.parquet here'],
  ['/a b/ü', 'no file file:///a%20b/%C3%BC/frames/x.parquet here'],
  ['s3a://bucket/a b', 'no file s3a://bucket/a b/frames/x.parquet here'],
  ['s3a://bucket/a b', 'no file s3a://bucket/a%20b/frames/x.parquet here'],
  [undefined, 'no file /data/cold/frames/x.parquet here'],
])('a directory that the cluster has at %s is not told to callers', (root, message) => {
  expect(new PathMap('/data/cold', root).scrub(message)).toBe('no file the file here');
});

it('names a file as the cluster does', () => {
  expect(new PathMap('/data/cold', '/a b/ü/').toCluster('/data/cold/x/y.parquet')).toBe('/a b/ü/x/y.parquet');
});
