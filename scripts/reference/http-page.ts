/** The part of an OpenAPI document in the reference. */
export interface DescribedPaths {
  readonly paths: Readonly<Record<string, Readonly<Record<string, DescribedOperation>>>>;
}

interface DescribedOperation {
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: string;
    readonly required?: boolean;
    readonly description?: string;
    readonly schema: DescribedSchema;
  }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: DescribedSchema }>> };
}

interface DescribedSchema {
  readonly description?: string | undefined;
  readonly default?: unknown;
  readonly enum?: readonly string[];
  readonly properties?: Readonly<Record<string, DescribedSchema>>;
  readonly required?: readonly string[];
}

const block = /<!-- (parameters|body): (\w+) (\S+) -->[\s\S]*?<!-- end -->/g;

/** Fills the tables of docs/reference/http.md: from `<!-- parameters: POST /imp -->` up to `<!-- end -->`. */
export function renderHttpPage(page: string, { paths }: DescribedPaths): string {
  return page.replaceAll(block, (_, kind: 'parameters' | 'body', method: string, path: string) => {
    const operation = paths[path]?.[method.toLowerCase()];
    if (operation === undefined) throw new Error(`there is no ${method} ${path}`);
    return [
      `<!-- ${kind}: ${method} ${path} -->`,
      `| ${kind === 'body' ? 'key' : 'parameter'} | default | meaning |`,
      '|---|---|---|',
      ...(kind === 'body' ? bodyRows(operation) : parameterRows(operation)),
      '<!-- end -->',
    ].join('\n');
  });
}

function parameterRows({ parameters = [] }: DescribedOperation): string[] {
  const inQuery = parameters.filter((parameter) => parameter.in === 'query');
  return inQuery.map(({ name, required = false, schema, description }) =>
    row(name, required, { ...schema, description }),
  );
}

function bodyRows({ requestBody }: DescribedOperation): string[] {
  const { properties = {}, required = [] } = requestBody?.content['application/json']?.schema ?? {};
  return Object.entries(properties).flatMap(([name, schema]) => [
    row(name, required.includes(name), schema),
    ...Object.entries(schema.properties ?? {}).map(([inner, its]) =>
      row(`${name}.${inner}`, schema.required?.includes(inner) ?? false, its),
    ),
  ]);
}

function row(
  name: string,
  isRequired: boolean,
  { default: fallback, enum: choices, description = '' }: DescribedSchema,
): string {
  const shown = fallback !== undefined ? `\`${String(fallback)}\`` : isRequired ? 'required' : '';
  const oneOf = choices === undefined ? '' : ` One of ${choices.map((each) => `\`${each}\``).join(', ')}.`;
  return `| \`${name}\` | ${shown} | ${(description + oneOf).replaceAll('|', '\\|')} |`;
}
