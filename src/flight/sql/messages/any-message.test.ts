import { bytesField } from '@framehold/grpc';
import { expect, test } from 'vitest';
import { packAny, unpackAny } from './any-message.ts';
import { StatementText } from './sql-messages.ts';

test('a command is packed as the reference libraries pack it', () => {
  const packed = packAny('CommandStatementQuery', StatementText.encode({ query: 'select 1' }));
  expect(Buffer.from(packed).toString('hex')).toBe(
    `0a43${Buffer.from('type.googleapis.com/arrow.flight.protocol.sql.CommandStatementQuery').toString('hex')}120a0a0873656c6563742031`,
  );
  expect(unpackAny(packed)).toMatchObject({ name: 'CommandStatementQuery' });
});

test('a command without fields has no value', () => {
  expect(unpackAny(packAny('CommandGetCatalogs', new Uint8Array(0)))).toEqual({
    name: 'CommandGetCatalogs',
    value: new Uint8Array(0),
  });
});

test('what stands before the last slash of the type does not matter', () => {
  const packed = bytesField(1, 'example.com/any/arrow.flight.protocol.sql.CommandGetTables');
  expect(unpackAny(packed)?.name).toBe('CommandGetTables');
});

test.each([
  ['a handle', Buffer.from('trades')],
  ['SQL text', Buffer.from('select * from trades')],
  ['JSON', Buffer.from('{"handle":"trades"}')],
  ['nothing', Buffer.alloc(0)],
  ['an Any of another package', Buffer.from(bytesField(1, 'type.googleapis.com/google.protobuf.Empty'))],
  ['a type that only begins alike', Buffer.from(bytesField(1, 'x/arrow.flight.protocol.sqlite.Command'))],
])('%s is no Flight SQL message', (_, bytes) => {
  expect(unpackAny(bytes)).toBeUndefined();
});
