import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { col, count, Expression, lit } from './expression.ts';
import { type Columns, Frame, type FrameSource, type JoinOptions } from './frame.ts';

/** See clients/README.md. Anything but an array is a value. */
type Term = string | number | boolean | null | { readonly timestamp: string } | readonly Term[];
type Verb = readonly [string, ...unknown[]];

interface Plan {
  readonly frame: string;
  readonly verbs: readonly Verb[];
}

interface PlanFile {
  readonly columns: Readonly<Record<string, readonly string[]>>;
  readonly plans: readonly (Plan & { readonly sql: string; readonly params: readonly Term[] })[];
}

const file = JSON.parse(readFileSync(new URL('../../../verbs.json', import.meta.url), 'utf8')) as PlanFile;

/** No rows are requested. */
const source: FrameSource = {
  columnsOf: async (name) => file.columns[name] ?? [],
  collect: () => expect.unreachable(),
  keep: () => expect.unreachable(),
};

// The rows of these plans are compared with those of Polars in clients/python/tests/test_frame.py.
describe('the verbs make the SQL that those of the Python package make', () => {
  test.each(file.plans)('of plan %#', async ({ frame, verbs, sql, params }) => {
    const made = frameOf({ frame, verbs });
    expect(await made.sql()).toEqual({ text: sql, params: params.map(operandOf) });
  });
});

test('the plans have every method of an expression', () => {
  const named = new Set(
    JSON.stringify(file.plans)
      .match(/(?<=\[")\w+(?=")/g)
      ?.map(methodOf),
  );
  const methods = Object.getOwnPropertyNames(Expression.prototype).filter((name) => name !== 'constructor');
  expect(methods.filter((name) => !named.has(name))).toEqual([]);
  expect(methods.length).toBeGreaterThan(35);
});

function frameOf({ frame, verbs }: Plan): Frame {
  return verbs.reduce<Frame>(
    (made, [verb, ...given]) => {
      switch (verb) {
        case 'filter':
          return made.filter(...given.map((each) => operandOf(each as Term) as Expression));
        case 'select':
          return made.select(...columnsOf(given));
        case 'with_columns':
          return made.withColumns(...columnsOf(given));
        case 'group_by':
          return made.groupBy(...columnsOf(given[0])).agg(...columnsOf(given[1]));
        case 'join': {
          const [other, on, how] = given as [Plan, readonly string[], JoinOptions['how']];
          return made.join(frameOf(other), { on, how });
        }
        case 'sort': {
          const [by, descending, nullsLast] = given as [unknown, readonly boolean[], boolean];
          return made.sort(columnsOf(by), { descending, nullsLast });
        }
        case 'limit':
          return made.limit(given[0] as number);
        case 'distinct':
          return made.distinct();
        default:
          throw new Error(`there is no verb ${verb}`);
      }
    },
    Frame.of(source, frame),
  );
}

function columnsOf(terms: unknown): Columns[] {
  return (terms as readonly Term[]).map((term) => operandOf(term) as Columns);
}

/** An expression or a value. `['fill_null', ['col', 'n'], 9]` is `col('n').fillNull(9)`. */
function operandOf(term: Term): unknown {
  if (!Array.isArray(term)) {
    return typeof term === 'object' && term !== null && 'timestamp' in term ? new Date(`${term.timestamp}Z`) : term;
  }
  const [name, ...given] = term as unknown as readonly [string, ...Term[]];
  if (name === 'is_in') return (operandOf(given[0] as Term) as Expression).isIn(given[1] as readonly Term[]);
  const operands = given.map(operandOf);
  if (name === 'col') return col(operands[0] as string);
  if (name === 'lit') return lit(operands[0]);
  if (name === 'count' && operands.length === 0) return count();
  const method = methodOf(name) as keyof Expression;
  const expression = lit(operands[0]);
  return (expression[method] as (...others: unknown[]) => Expression).call(expression, ...operands.slice(1));
}

function methodOf(name: string): string {
  return name.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
}
