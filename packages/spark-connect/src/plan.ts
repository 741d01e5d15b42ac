import { type ArrowField, smallIpcStream } from '@framehold/arrow-ipc';
import {
  bytes,
  int32,
  int64,
  map,
  message,
  nested,
  optionalBytes,
  optionalString,
  repeated,
  string,
  strings,
  textValue,
} from '@framehold/grpc';
import { Literal, type LiteralValue } from './literal.ts';

/** An encoded relation of a plan: relations hold relations, and none is decoded again. */
export type Relation = Uint8Array & { readonly relation?: true };

const RelationCommon = message({ planId: int64(2) });
const DataSource = message({
  format: optionalString(1),
  schema: optionalString(2),
  options: map(3, textValue),
  paths: strings(4),
});
const Read = message({ dataSource: nested(2, DataSource) });
const Expression = message({ literal: nested(1, Literal) });
const Sql = message({ query: string(1), namedArguments: map(4, Expression), posArguments: repeated(5, Expression) });
const Limit = message({ input: bytes(1), value: int32(2) });
const LocalRelation = message({ data: optionalBytes(1) });
const SubqueryAlias = message({ input: bytes(1), alias: string(2) });
const WithRelations = message({
  root: bytes(1),
  references: repeated(2, { decode: (b) => b, encode: (b) => b as Uint8Array }),
});
const RelationMessage = message({
  common: nested(1, RelationCommon),
  read: nested(2, Read),
  limit: nested(8, Limit),
  sql: nested(10, Sql),
  localRelation: nested(11, LocalRelation),
  subqueryAlias: nested(16, SubqueryAlias),
  withRelations: nested(41, WithRelations),
});

const saveMode = { errorIfExists: 3 } as const;
const WriteOperation = message({
  input: bytes(1),
  source: optionalString(2),
  path: optionalString(3),
  mode: int32(5),
  options: map(9, textValue),
});
const Command = message({ writeOperation: nested(2, WriteOperation) });
const Plan = message({ root: optionalBytes(1), command: nested(2, Command) });

/** Every relation of a plan has a number of its own, by which Sail distinguishes references. */
let planIds = 0n;

function relation(fields: Parameters<typeof RelationMessage.encode>[0]): Relation {
  planIds += 1n;
  return RelationMessage.encode({ common: { planId: planIds }, ...fields });
}

/** `isUniform`: all files have the same columns. */
export function readParquet(
  paths: readonly string[],
  schema: string | undefined,
  { isUniform }: { readonly isUniform: boolean },
): Relation {
  const options = new Map(isUniform ? [] : [['mergeSchema', 'true']]);
  return relation({ read: { dataSource: { format: 'parquet', schema, options, paths } } });
}

export function aliased(input: Relation, alias: string): Relation {
  return relation({ subqueryAlias: { input, alias } });
}

/** A few rows that travel inside the plan. */
export function localRows(fields: readonly ArrowField[], rows: readonly (readonly unknown[])[]): Relation {
  return relation({ localRelation: { data: smallIpcStream(fields, rows) } });
}

export interface BoundArguments {
  readonly named: ReadonlyMap<string, LiteralValue>;
  readonly positional: readonly LiteralValue[];
}

/** The caller's text unchanged, over the relations of its names. */
export function sqlOver(
  query: string,
  references: readonly Relation[],
  { named, positional }: BoundArguments,
): Relation {
  const expression = (literal: LiteralValue) => ({ literal });
  const namedArguments = new Map([...named].map(([name, value]) => [name, expression(value)]));
  const root = relation({ sql: { query, namedArguments, posArguments: positional.map(expression) } });
  return references.length === 0 ? root : relation({ withRelations: { root, references } });
}

export function limited(input: Relation, rows: number): Relation {
  return relation({ limit: { input, value: rows } });
}

export function rootPlan(root: Relation): Uint8Array {
  return Plan.encode({ root });
}

export function writePlan(input: Relation, path: string): Uint8Array {
  const writeOperation = {
    input,
    source: 'parquet',
    path,
    mode: saveMode.errorIfExists,
    options: new Map<string, string>(),
  };
  return Plan.encode({ command: { writeOperation } });
}
