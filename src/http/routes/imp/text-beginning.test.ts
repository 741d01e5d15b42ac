import { expect, test } from 'vitest';
import { wholeObjects, wholeRecords } from './text-beginning.ts';

const records = (text: string): string => wholeRecords(Buffer.from(text)).toString();
const objects = (text: string): string => wholeObjects(Buffer.from(text)).toString();

test('a CSV is cut behind its last whole record', () => {
  expect(records('a,b\n1,2\n3,')).toBe('a,b\n1,2\n');
  expect(records('a,b\n1,2\n')).toBe('a,b\n1,2\n');
});

test('a line end in quotes is not the end of a record', () => {
  expect(records('a,b\n1,2\n3,4\n5,6\n3,"four\nfive')).toBe('a,b\n1,2\n3,4\n5,6\n');
  expect(records('a,b\n1,2\n3,"four\nfive"\n6')).toBe('a,b\n1,2\n3,"four\nfive"\n');
});

test('a lone quote does not take all the lines behind it', () => {
  expect(records('a,b\n5",2\n3,4\n5,6\n7,8\n9')).toBe('a,b\n5",2\n3,4\n5,6\n7,8\n');
});

test('nothing is left of a CSV without a line end', () => {
  expect(records('a,b,c')).toBe('');
});

test('objects that follow each other are cut behind the last whole one', () => {
  expect(objects('{"a":1}\n{"a":"}{"}\n{"a":')).toBe('{"a":1}\n{"a":"}{"}');
});

test('an array of objects is closed behind the last whole one', () => {
  expect(objects('[\n  {"a": [1, {"b": "\\"]"}]},\n  {"a": [1, {')).toBe('[\n  {"a": [1, {"b": "\\"]"}]}]');
});

test('nothing is left of a JSON whose first object is not whole', () => {
  expect(objects('[{"a":1')).toBe('');
});
