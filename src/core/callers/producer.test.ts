import { describe, expect, test } from 'vitest';
import { parseProducer } from './producer.ts';

const headers = { 'producer-id': 'loader 7', 'producer-epoch': '0', 'producer-seq': '9007199254740991' };

describe('the producer of an append', () => {
  test('is read from its three headers', () => {
    expect(parseProducer(headers)).toEqual({ id: 'loader 7', epoch: 0, seq: Number.MAX_SAFE_INTEGER });
  });

  test('is absent where none of them is sent', () => {
    expect(parseProducer({ accept: '*/*' })).toBeUndefined();
  });

  test.each(Object.keys(headers))('is refused without %s', (name) => {
    expect(() => parseProducer({ ...headers, [name]: undefined })).toThrow(
      expect.objectContaining({ code: 'missing_parameter', message: expect.stringMatching(new RegExp(name, 'i')) }),
    );
  });

  test.each([
    ['producer-id', ''],
    ['producer-id', 'x'.repeat(257)],
    ['producer-id', 'tab\tbed'],
    ['producer-id', 'é'],
    ['producer-epoch', '-1'],
    ['producer-epoch', '1.0'],
    ['producer-epoch', '01'],
    ['producer-seq', ''],
    ['producer-seq', '1, 2'],
    ['producer-seq', '9007199254740992'],
  ])('is refused with %s %j', (name, value) => {
    expect(() => parseProducer({ ...headers, [name]: value })).toThrow(
      expect.objectContaining({ code: 'invalid_parameter', message: expect.stringMatching(new RegExp(name, 'i')) }),
    );
  });
});
