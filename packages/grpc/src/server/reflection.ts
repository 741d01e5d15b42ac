import { message, optionalString, repeated, string, strings } from '../protobuf/proto-message.ts';
import { bytesField, varintField } from '../protobuf/protobuf.ts';
import { type GrpcStatusName, grpcStatus } from '../wire/grpc-status.ts';
import type { Service } from './method.ts';
import { serviceDescriptors } from './service-descriptors.ts';

const maxMessageBytes = 64 * 1024;
/** Most time to wait for the next question. */
const idleTimeoutMs = 60_000;

/** google/protobuf/descriptor.proto, as far as names go. */
const Named = message({ name: string(1) });
const MessageDescriptor = message({ name: string(1), messages: repeated(3, Named), enums: repeated(4, Named) });
const ServiceDescriptor = message({ name: string(1), methods: repeated(2, Named) });
const FileDescriptor = message({
  name: string(1),
  package: string(2),
  imports: strings(3),
  messages: repeated(4, MessageDescriptor),
  enums: repeated(5, Named),
  services: repeated(6, ServiceDescriptor),
});

const Request = message({
  fileName: optionalString(3),
  symbol: optionalString(4),
  extensionsOf: optionalString(6),
  listServices: optionalString(7),
});

/** The field of the response that each kind of answer stands in. */
const answerField = { request: 2, files: 4, extensions: 5, services: 6, error: 7 } as const;

interface DescribedFile {
  readonly bytes: Uint8Array;
  readonly imports: readonly string[];
}

/**
 * `grpc.reflection.v1.ServerReflection`, with which tools such as grpcurl look up the services' messages. Older tools use the
 * same under the package `grpc.reflection.v1alpha`. `descriptors`: FileDescriptorProtos of further services, in base64, with their imports.
 */
export function createReflectionServices(descriptors: readonly string[]): readonly Service[] {
  const files = new Map<string, DescribedFile>();
  const fileOfSymbol = new Map<string, string>();
  const services: string[] = [];
  for (const encoded of [...descriptors, ...serviceDescriptors]) {
    const bytes = Buffer.from(encoded, 'base64');
    const file = FileDescriptor.decode(bytes);
    files.set(file.name, { bytes, imports: file.imports });
    for (const symbol of symbolsOf(file)) fileOfSymbol.set(symbol, file.name);
    services.push(...file.services.map(({ name }) => `${file.package}.${name}`));
  }

  /** The file, and behind it all that it imports. */
  const withImports = (name: string | undefined, asked: string): Uint8Array => {
    const wanted = name === undefined ? [] : [name];
    for (const each of wanted) for (const other of files.get(each)?.imports ?? []) wanted.push(other);
    const found = [...new Set(wanted)].flatMap((each) => files.get(each)?.bytes ?? []);
    if (found.length === 0) return failure('NOT_FOUND', `no descriptor of ${JSON.stringify(asked.slice(0, 200))}`);
    return bytesField(answerField.files, Buffer.concat(found.map((bytes) => bytesField(1, bytes))));
  };
  const answer = ({ fileName, symbol, extensionsOf, listServices }: ReturnType<typeof Request.decode>): Uint8Array => {
    if (listServices !== undefined) {
      const listed = services.map((name) => bytesField(1, bytesField(1, name)));
      return bytesField(answerField.services, Buffer.concat(listed));
    }
    if (fileName !== undefined) return withImports(files.has(fileName) ? fileName : undefined, fileName);
    if (symbol !== undefined) return withImports(fileOfSymbol.get(symbol), symbol);
    // The language of these files has no extensions.
    if (extensionsOf !== undefined && fileOfSymbol.has(extensionsOf))
      return bytesField(answerField.extensions, bytesField(1, extensionsOf));
    return failure('NOT_FOUND', 'there is no such extension');
  };

  return ['grpc.reflection.v1', 'grpc.reflection.v1alpha'].map((name) => ({
    name: `${name}.ServerReflection`,
    methods: {
      ServerReflectionInfo: {
        kind: 'streaming',
        maxMessageBytes,
        idleTimeoutMs,
        async *handle(requests, { waits }) {
          waits();
          for await (const request of requests) {
            yield Buffer.concat([bytesField(answerField.request, request), answer(Request.decode(request))]);
          }
        },
      },
    },
  }));
}

/** The full names of all declarations of a file that reflection can look up. */
function symbolsOf(file: ReturnType<typeof FileDescriptor.decode>): string[] {
  const inFile = (name: string): string => `${file.package}.${name}`;
  return [
    ...file.messages.flatMap((type) => [
      inFile(type.name),
      ...[...type.messages, ...type.enums].map(({ name }) => inFile(`${type.name}.${name}`)),
    ]),
    ...file.enums.map(({ name }) => inFile(name)),
    ...file.services.flatMap((service) => [
      inFile(service.name),
      ...service.methods.map(({ name }) => inFile(`${service.name}.${name}`)),
    ]),
  ];
}

function failure(status: GrpcStatusName, text: string): Uint8Array {
  return bytesField(answerField.error, Buffer.concat([varintField(1, grpcStatus[status]), bytesField(2, text)]));
}
