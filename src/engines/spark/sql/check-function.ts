import { type FunctionLists, notOnList, type Refusal, refusalLookup } from '../../../core/text/function-lists.ts';
import { allowedFunctions, allowedTableFunctions } from './allowed-functions.ts';

/** Refuses a function in an expression that is not allowed. */
export function checkFunction(name: string, position: number): void {
  const lower = name.toLowerCase();
  if (!allowedFunctions.has(lower)) throw notOnList(lower, 'values', lists, position);
}

/** Refuses a function in FROM that is not allowed. */
export function checkTableFunction(name: string, position: number): void {
  const lower = name.toLowerCase();
  if (!allowedTableFunctions.has(lower)) throw notOnList(lower, 'tables', lists, position);
}

/** Functions of Spark that callers may not use, and why. Both in expressions and in FROM. */
const refusals: readonly Refusal[] = [
  {
    reason: 'it runs code that is not SQL',
    names: 'java_method reflect try_reflect',
  },
  {
    reason: 'it shows where files are',
    hint: 'frames are known by their names only',
    names: 'input_file_block_length input_file_block_start input_file_name',
  },
  {
    reason: 'it may read files that its arguments name',
    hint: 'put data as frames, and name the frames as tables',
    names: `from_avro from_protobuf from_xml schema_of_avro schema_of_xml to_avro to_protobuf to_xml read_files xpath
      xpath_* read_statestore state_metadata statestore`,
  },
  {
    reason: 'it tells about the cluster, not about frames',
    hint: 'if it is a column, write it with its table: t.user',
    names: `collations current_catalog current_database current_path current_schema current_user python_worker_logs session_user sql_keywords user`,
  },
  {
    reason: 'frames have no such type',
    hint: 'keep geometries as text or numbers',
    names: 'st_*',
  },
  {
    reason: 'it belongs to views with measures, which a cluster engine has none of here',
    names: 'measure',
  },
];

/** Reason for which a function of Spark is refused. The name in lower case. */
export const refusalOf = refusalLookup(refusals);

const lists: FunctionLists = {
  values: allowedFunctions,
  tables: allowedTableFunctions,
  refusalOf,
  where: ' on a cluster engine',
};
