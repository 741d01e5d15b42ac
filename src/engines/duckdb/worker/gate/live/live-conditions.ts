import type { LiveCondition, LiveOperator, LiveValue } from '../../../../../core/sql/live-read.ts';
import { asciiLower } from '../../../../../core/text/ascii-lower.ts';
import { listOf, type TreeNode } from '../tree/parse-tree.ts';

/** A condition with the column as it is written: `price`, `t.price`, `tsdb.trades.price`. In lower case. */
export interface WrittenCondition extends Omit<LiveCondition, 'column'> {
  readonly path: readonly string[];
}

const comparisons: Readonly<Record<string, LiveOperator>> = {
  COMPARE_EQUAL: '=',
  COMPARE_LESSTHAN: '<',
  COMPARE_LESSTHANOREQUALTO: '<=',
  COMPARE_GREATERTHAN: '>',
  COMPARE_GREATERTHANOREQUALTO: '>=',
};

const flipped: Readonly<Record<LiveOperator, LiveOperator>> = {
  '=': '=',
  '<': '>',
  '<=': '>=',
  '>': '<',
  '>=': '<=',
  in: 'in',
};

/** Expressions of which each must be true for the whole to be true. */
export function conjuncts(expression: unknown): readonly TreeNode[] {
  const node = expression as TreeNode | undefined;
  if (node === undefined) return [];
  if (node.type !== 'CONJUNCTION_AND') return [node];
  return listOf(node.children).flatMap(conjuncts);
}

/** The comparisons of a column with literals that the expression consists of. None: it is of another form. */
export function conditionsIn(expression: TreeNode): readonly WrittenCondition[] {
  const operator = comparisons[String(expression.type)];
  if (operator !== undefined) return [...compared(expression.left, operator, expression.right)];
  if (expression.class === 'BETWEEN') {
    const { input, lower, upper } = expression;
    return [...compared(input, '>=', lower), ...compared(input, '<=', upper)];
  }
  if (expression.type === 'COMPARE_IN') return oneOf(listOf(expression.children));
  if (expression.type === 'CONJUNCTION_OR') return anyOf(listOf(expression.children));
  return [];
}

function* compared(left: unknown, operator: LiveOperator, right: unknown): Generator<WrittenCondition> {
  const [leftPath, rightPath] = [columnPath(left), columnPath(right)];
  const [leftValue, rightValue] = [literal(left), literal(right)];
  if (leftPath !== undefined && rightValue !== undefined) yield { path: leftPath, operator, values: [rightValue] };
  if (rightPath !== undefined && leftValue !== undefined) {
    yield { path: rightPath, operator: flipped[operator], values: [leftValue] };
  }
}

function oneOf([column, ...items]: readonly TreeNode[]): readonly WrittenCondition[] {
  const path = columnPath(column);
  const values = items.map(literal);
  if (path === undefined || !values.every((value) => value !== undefined)) return [];
  return [{ path, operator: 'in', values }];
}

/** One column that equals one of some literals, written with OR. */
function anyOf(alternatives: readonly TreeNode[]): readonly WrittenCondition[] {
  const each = alternatives.map(conditionsIn);
  const [first] = each.flat();
  const isSame = ({ path, operator }: WrittenCondition): boolean =>
    (operator === '=' || operator === 'in') && path.join('.') === first?.path.join('.');
  if (first === undefined || !each.every((some) => some.length === 1 && some.every(isSame))) return [];
  return [{ path: first.path, operator: 'in', values: each.flat().flatMap(({ values }) => values) }];
}

export function columnPath(expression: unknown): readonly string[] | undefined {
  const node = expression as TreeNode | undefined;
  if (node?.class !== 'COLUMN_REF') return undefined;
  return (node.column_names as readonly string[]).map(asciiLower);
}

const castTypes: Readonly<Record<string, LiveValue['type']>> = {
  VARCHAR: 'text',
  DATE: 'date',
  TIMESTAMP: 'timestamp',
  TIMESTAMP_NS: 'timestamp_ns',
};

/** Undefined also for NULL, and for literals of other types. */
function literal(expression: unknown): LiveValue | undefined {
  const node = expression as TreeNode | undefined;
  if (node?.class === 'CONSTANT') return constant(node);
  if (node?.class !== 'CAST' || node.try_cast === true) return undefined;
  const inner = node.child as TreeNode | undefined;
  const value = inner?.class === 'CONSTANT' ? constant(inner) : undefined;
  const type = castTypes[typeName(node.cast_type as TreeNode | undefined)];
  return value?.type === 'text' && type !== undefined ? { type, text: value.text } : undefined;
}

function constant(node: TreeNode): LiveValue | undefined {
  const { type, value, is_null: isNull } = (node.value ?? {}) as TreeNode;
  const isText = (type as TreeNode | undefined)?.id === 'VARCHAR' && typeof value === 'string' && isNull !== true;
  return isText ? { type: 'text', text: value } : undefined;
}

/** The name of a plain type; for any other an empty text. */
function typeName(type: TreeNode | undefined): string {
  if (type === undefined) return '';
  const info = type.type_info as TreeNode | undefined;
  if (type.id !== 'UNBOUND') return info === undefined ? String(type.id) : '';
  return '';
}
