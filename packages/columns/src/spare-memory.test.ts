import { expect, test } from 'vitest';
import { giveMemory, takeMemory } from './spare-memory.ts';

const bytes = 300_000;

test('memory that was given back serves the next one who takes about as much, once', () => {
  const memory = takeMemory(bytes);
  giveMemory(new Uint8Array(memory, 0, 10));
  expect(takeMemory(bytes - 1000)).toBe(memory);
  expect(takeMemory(bytes - 1000)).not.toBe(memory);
});

test('memory that is given back twice is taken by one', () => {
  const memory = takeMemory(bytes);
  giveMemory(new Uint8Array(memory));
  giveMemory(new Uint8Array(memory));
  const first = takeMemory(bytes);
  const second = takeMemory(bytes);
  expect(first).toBe(memory);
  expect(second).not.toBe(memory);
});

test('memory of others is left alone, and so is much larger memory', () => {
  const foreign = new ArrayBuffer(bytes);
  giveMemory(new Uint8Array(foreign));
  expect(takeMemory(bytes)).not.toBe(foreign);
  const large = takeMemory(2 * bytes);
  giveMemory(new Uint8Array(large));
  expect(takeMemory(bytes)).not.toBe(large);
});

test('memory is whole numbers of any size, however many bytes were wanted', () => {
  expect(takeMemory(9001).byteLength % 64).toBe(0);
});
