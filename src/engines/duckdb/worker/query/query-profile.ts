import type { ExplainFormat } from '../../../../core/sql/sql.ts';

/** Figures of a profile that are the statement's own, without paths of files and settings. */
const ownFigures = [
  'latency',
  'cpu_time',
  'cumulative_cardinality',
  'cumulative_rows_scanned',
  'result_set_size',
  'system_peak_buffer_memory',
  'system_peak_temp_dir_size',
  'total_bytes_read',
  'operator_name',
  'operator_type',
  'operator_timing',
  'operator_cardinality',
  'operator_rows_scanned',
];

const ownFacts: ReadonlySet<string> = new Set([
  'Aggregates',
  'CTE Index',
  'CTE Name',
  'Condition',
  'Conditions',
  'Delim Index',
  'Distinct Targets',
  'Dynamic Filters',
  'Estimated Cardinality',
  'Expression',
  'Expressions',
  'Filters',
  'Function',
  'Groups',
  'Join Type',
  'Offset',
  'Order By',
  'Projections',
  'Sample Method',
  'Sample Size',
  'Table',
  'Table Index',
  'Top',
  'Total Files Read',
  'Type',
]);

type Facts = Readonly<Record<string, string | readonly string[]>>;

interface ProfileNode {
  readonly [figure: string]: unknown;
  readonly extra_info: Facts;
  readonly children: readonly ProfileNode[];
}

/** DuckDB's JSON profile in another form, with the statement's own figures alone. */
export function profileText(json: string, format: ExplainFormat): string {
  const found = JSON.parse(json) as Readonly<Record<string, unknown>>;
  // A query answered by statistics alone runs no operator, and DuckDB has no profile of it.
  const profile = ownNode('result' in found ? { latency: 0 } : found);
  switch (format) {
    case 'default':
    case 'text':
      return asText(profile);
    case 'json':
      return JSON.stringify(profile, null, 2);
    case 'yaml':
      return asYaml(profile, '').join('\n');
    case 'mermaid':
      return asGraph(profile, {
        head: 'flowchart TD',
        node: (id, lines) => `    n${id}["\`${lines.join('\n').replaceAll('"', '#quot;').replaceAll('`', "'")}\`"]`,
        edge: (from, to) => `    n${from} --> n${to}`,
        tail: '',
      });
    case 'graphviz':
      return asGraph(profile, {
        head: 'digraph G {\n    node [shape=box];',
        node: (id, lines) => `    n${id} [label=${JSON.stringify(lines.join('\n'))}];`,
        edge: (from, to) => `    n${from} -> n${to};`,
        tail: '}',
      });
    case 'html':
      return `<!DOCTYPE html>\n<meta charset="utf-8">\n<title>Query profile</title>\n<pre>\n${asHtml(asText(profile))}</pre>\n`;
    default:
      return format satisfies never;
  }
}

function ownNode(node: Readonly<Record<string, unknown>>): ProfileNode {
  const info = Object.entries((node.extra_info ?? {}) as Facts);
  const children = (node.children ?? []) as readonly Readonly<Record<string, unknown>>[];
  return {
    ...Object.fromEntries(ownFigures.filter((name) => name in node).map((name) => [name, node[name]])),
    extra_info: Object.fromEntries(info.filter(([name, value]) => ownFacts.has(name) && value !== '')),
    children: children.map(ownNode),
  };
}

/** Under its name, one line each. The first node is the whole statement. */
function linesOf({ operator_name, operator_timing, operator_cardinality, extra_info, ...node }: ProfileNode): string[] {
  if (operator_name === undefined) return ['QUERY', `Total Time: ${seconds(node.latency)}`];
  const facts = Object.entries(extra_info).map(([name, value]) => `${name}: ${[value].flat().join(', ')}`);
  return [
    String(operator_name),
    ...facts,
    `Rows: ${String(operator_cardinality)}`,
    `Time: ${seconds(operator_timing)}`,
  ];
}

function seconds(value: unknown): string {
  return `${Number(value).toFixed(4)}s`;
}

function asText(profile: ProfileNode): string {
  const lines: string[] = [];
  const add = (node: ProfileNode, first: string, indent: string): void => {
    const [name = '', ...facts] = linesOf(node);
    const stem = node.children.length > 0 ? '│ ' : '  ';
    lines.push(first + name, ...facts.map((fact) => `${indent}${stem}  ${fact.replaceAll('\n', ' ')}`));
    for (const [index, child] of node.children.entries()) {
      const isLast = index === node.children.length - 1;
      add(child, `${indent}${isLast ? '└─ ' : '├─ '}`, `${indent}${isLast ? '   ' : '│  '}`);
    }
  };
  add(profile, '', '');
  return `${lines.join('\n')}\n`;
}

function asYaml({ children, ...node }: ProfileNode, indent: string): string[] {
  const figures = Object.entries(node).map(([name, value]) => `${indent}${name}: ${JSON.stringify(value)}`);
  if (children.length === 0) return figures;
  const below = children.flatMap((child) => {
    const [first = '', ...rest] = asYaml(child, `${indent}    `);
    return [`${indent}  - ${first.trimStart()}`, ...rest];
  });
  return [...figures, `${indent}children:`, ...below];
}

interface GraphForm {
  readonly head: string;
  readonly node: (id: number, lines: readonly string[]) => string;
  readonly edge: (from: number, to: number) => string;
  readonly tail: string;
}

function asGraph(profile: ProfileNode, { head, node, edge, tail }: GraphForm): string {
  const nodes: string[] = [];
  const edges: string[] = [];
  const add = (each: ProfileNode): number => {
    const id = nodes.push(node(nodes.length, linesOf(each))) - 1;
    for (const child of each.children) edges.push(edge(id, add(child)));
    return id;
  };
  add(profile);
  return [head, ...nodes, ...edges, tail].join('\n');
}

function asHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
