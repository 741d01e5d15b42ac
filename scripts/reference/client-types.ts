/** The parts of an OpenAPI document from which the types of the client for TypeScript are made. */
export interface TypedDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, TypedOperation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, TypedSchema>> };
}

interface TypedOperation {
  readonly summary: string;
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: string;
    readonly required?: boolean;
    readonly description?: string;
    readonly schema: TypedSchema;
  }[];
  readonly requestBody?: TypedContent;
  readonly responses: Readonly<Record<string, TypedContent>>;
}

interface TypedContent {
  readonly content?: Readonly<Record<string, { readonly schema: TypedSchema }>>;
}

interface TypedSchema {
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly items?: TypedSchema;
  readonly properties?: Readonly<Record<string, TypedSchema>>;
  readonly required?: readonly string[];
  readonly oneOf?: readonly TypedSchema[];
  readonly anyOf?: readonly TypedSchema[];
}

const json = 'application/json';

/** clients/typescript/src/api.ts: requests and answers in JSON, and the codes of errors, by the document of the server. */
export function clientTypes({ paths, components }: TypedDocument): string {
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .map(([method, operation]) => ({ name: `${method.toUpperCase()} ${path}`, operation }))
      .filter(({ name, operation }) => !name.startsWith('HEAD ') && answerOf(operation) !== undefined),
  );
  const codes = components.schemas.Error?.properties?.code?.enum ?? [];
  return `// Made by scripts/generate-docs.mjs from /openapi.json; do not edit.

/** Every code of an error of the server. */
export type ErrorCode =
${codes.map((code) => `  | '${code}'`).join('\n')};

/** The operations that answer in JSON. */
export interface Api {
${operations.map(({ name, operation }) => operationType(name, operation)).join('\n')}
}

export type Answer<Name extends keyof Api> = Api[Name]['answer'];
`;
}

function answerOf({ responses }: TypedOperation): TypedSchema | undefined {
  const schema = responses['200']?.content?.[json]?.schema;
  return schema === undefined || isText(schema) ? undefined : schema;
}

function isText({ type }: TypedSchema): boolean {
  return type === 'string';
}

function operationType(name: string, operation: TypedOperation): string {
  const { summary, parameters = [], requestBody } = operation;
  const placed = (place: string): TypedSchema => {
    const found = parameters.filter((parameter) => parameter.in === place);
    return {
      type: 'object',
      properties: Object.fromEntries(
        found.map(({ name: key, description = '', schema }) => [key, { ...schema, description }]),
      ),
      required: found.filter(({ required }) => required === true).map(({ name: key }) => key),
    };
  };
  const body = requestBody?.content?.[json]?.schema;
  const answer = answerOf(operation) ?? {};
  return `  /** ${comment(summary)}. */
  readonly '${name}': {
    readonly segments: ${typeOf(placed('path'), 4)};
    readonly query: ${typeOf(placed('query'), 4)};
    readonly body: ${body === undefined ? 'undefined' : typeOf(body, 4)};
    readonly answer: ${typeOf(answer, 4)};
  };`;
}

function typeOf(schema: TypedSchema, indent: number): string {
  const { type, oneOf, anyOf } = schema;
  if ('const' in schema) return literal(schema.const);
  if (schema.enum !== undefined) return schema.enum.map(literal).join(' | ');
  const among = oneOf ?? anyOf;
  if (among !== undefined) return among.map((each) => typeOf(each, indent)).join(' | ');
  const names = typeof type === 'string' ? [type] : (type ?? []);
  if (names.length === 0) return 'unknown';
  return names.map((name) => namedType(name, schema, indent)).join(' | ');
}

function namedType(name: string, schema: TypedSchema, indent: number): string {
  switch (name) {
    case 'integer':
    case 'number':
      return 'number';
    case 'array': {
      const item = schema.items === undefined ? 'unknown' : typeOf(schema.items, indent);
      return `readonly ${item.includes(' ') && !item.startsWith('{') ? `(${item})` : item}[]`;
    }
    case 'object':
      return objectType(schema, indent);
    default:
      return name;
  }
}

function objectType({ properties, required = [] }: TypedSchema, indent: number): string {
  if (properties === undefined) return 'Readonly<Record<string, unknown>>';
  const entries = Object.entries(properties);
  if (entries.length === 0) return 'Readonly<Record<string, never>>';
  const margin = ' '.repeat(indent + 2);
  const lines = entries.flatMap(([name, schema]) => {
    const isOptional = !required.includes(name);
    const key = /^[A-Za-z_]\w*$/.test(name) ? name : `'${name}'`;
    const value = typeOf(schema, indent + 2);
    const { description = '' } = schema;
    return [
      ...(description === '' ? [] : [`${margin}/** ${comment(description)} */`]),
      `${margin}readonly ${key}${isOptional ? '?' : ''}: ${value}${isOptional ? ' | undefined' : ''};`,
    ];
  });
  return `{\n${lines.join('\n')}\n${' '.repeat(indent)}}`;
}

function literal(value: unknown): string {
  return typeof value === 'string' ? `'${value}'` : String(value);
}

function comment(text: string): string {
  return text.replaceAll('*/', '* /').replaceAll(/\s+/g, ' ');
}
