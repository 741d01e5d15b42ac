import { toColumn } from '@framehold/arrow-ipc';
import type { Column } from '@framehold/columns';
import {
  ConnectFailure,
  columnsOfStruct,
  execute,
  limited,
  type Relation,
  rootPlan,
  type SparkSession,
} from '@framehold/spark-connect';
import { readResultBatch, unreadableResult } from './result-batches.ts';

/** The columns that a relation has when it is run, without running it. */
export async function resultColumns(
  session: SparkSession,
  relation: Relation,
  signal: AbortSignal,
): Promise<readonly Column[]> {
  if (session.flavour === 'spark') {
    const columns = columnsOfStruct(await session.schema(rootPlan(relation), { signal }));
    if (columns.length === 0) throw unreadableResult('its schema has no columns');
    return columns;
  }
  // Sail describes types otherwise than it sends them: unsigned integers become signed.
  for await (const { arrowBatch } of execute(session, rootPlan(limited(relation, 0)), { signal })) {
    if (arrowBatch !== undefined) {
      return readResultBatch(arrowBatch.data, arrowBatch.rowCount).fields().map(toColumn);
    }
  }
  throw new ConnectFailure('DATA_LOSS', 'a result without a batch');
}
