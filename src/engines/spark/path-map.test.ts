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

it.each([
  ['spark', 'read', '/a b/ü/', '/a b/ü/x/y.parquet'],
  ['spark', 'read', '/a[1]{b}*?', '/a\\[1\\]\\{b\\}\\*\\?/x/y.parquet'],
  ['spark', 'write', '/a[1]{b}*?', '/a[1]{b}*?/x/y.parquet'],
  ['sail', 'read', '/a[1]{b}*? %41#', 'file:///a%5B1%5D%7Bb%7D%2A%3F%20%2541%23/x/y.parquet'],
  ['sail', 'write', '/a[1]', 'file:///a%5B1%5D/x/y.parquet'],
  ['sail', 'read', 's3a://bucket/a%20b/[1]', 's3a://bucket/a%20b/%5B1%5D/x/y.parquet'],
] as const)(
  'a file that %s shall %s below %s is named so that no sign in it is a pattern',
  (flavour, use, root, name) => {
    expect(new PathMap('/data/cold', root).toCluster('/data/cold/x/y.parquet', flavour, use)).toBe(name);
  },
);
