import { CodedError } from '@framehold/columns';
import { expect, it } from 'vitest';
import { GrpcError } from '../wire/grpc-status.ts';
import { failureOf, trailersOf } from './failure.ts';

it('percent-encodes text in trailers', () => {
  const trailers = { 'app-hint': 'see 100 %', 'app-position': 3 };
  expect(trailersOf({ status: 'NOT_FOUND', message: 'no frame "é" (see 100 %)', trailers })).toEqual({
    'grpc-status': 5,
    'grpc-message': 'no frame "%C3%A9" (see 100 %25)',
    'app-hint': 'see 100 %25',
    'app-position': 3,
  });
});

it.each([
  ['an error of gRPC', new GrpcError('UNIMPLEMENTED', 'no'), { status: 'UNIMPLEMENTED', message: 'no' }],
  ['an error with a code', new CodedError('too_large', 'long'), { status: 'RESOURCE_EXHAUSTED', message: 'long' }],
  ['a code of others', new CodedError('blue', 'sky'), { status: 'UNKNOWN', message: 'sky' }],
  ['anything else', new Error('/secret/path'), { status: 'INTERNAL', message: 'internal error' }],
])('%s has a status', (_, thrown, failure) => {
  expect(failureOf(thrown)).toEqual(failure);
});
