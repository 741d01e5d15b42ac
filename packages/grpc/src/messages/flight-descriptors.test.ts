import { fileURLToPath } from 'node:url';
import { loadSync } from '@grpc/proto-loader';
import { expect, it } from 'vitest';
import { int32, message, repeated, string } from '../protobuf/proto-message.ts';
import { serviceDescriptors } from '../server/service-descriptors.ts';
import { flightDescriptors } from './flight-descriptors.ts';

const Field = message({ name: string(1), number: int32(3), type: int32(5) });
const Method = message({ name: string(1) });
const Message = message({ name: string(1), fields: repeated(2, Field) });
const Service = message({ name: string(1), methods: repeated(2, Method) });
const File = message({ package: string(2), messages: repeated(4, Message), services: repeated(6, Service) });

interface LoadedMessage {
  readonly type: { readonly field: readonly { readonly name: string; readonly number: number }[] };
}

it('the descriptors that reflection shows have the messages, fields and methods of the files in proto', () => {
  const files = ['arrow/flight/Flight.proto', 'grpc/health/v1/health.proto', 'grpc/reflection/v1/reflection.proto'];
  const includeDirs = [fileURLToPath(new URL('../../../../proto', import.meta.url))];
  const loaded = loadSync(files, { includeDirs, keepCase: true });
  let compared = 0;
  for (const encoded of [...flightDescriptors, ...serviceDescriptors]) {
    const file = File.decode(Buffer.from(encoded, 'base64'));
    for (const { name, fields } of file.messages) {
      const { type } = loaded[`${file.package}.${name}`] as unknown as LoadedMessage;
      const inFile = type.field.map((field) => [field.name, field.number]);
      expect(fields.map((field) => [field.name, field.number]).sort()).toEqual(inFile.sort());
      compared++;
    }
    for (const { name, methods } of file.services) {
      const service = loaded[`${file.package}.${name}`] ?? {};
      expect(methods.map((method) => method.name)).toEqual(Object.keys(service));
      compared++;
    }
  }
  expect(compared).toBeGreaterThan(30);
});
