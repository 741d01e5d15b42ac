import { clusterVenv } from '../../test/cluster/support/cluster-venv.ts';
import { type SparkCluster, startSparkCluster } from '../../test/cluster/support/spark-cluster.ts';
import { Missing } from '../../test/support/missing.ts';
import { RivalUnavailable } from './unavailable.ts';

/** The interpreter that has PySpark. */
export async function pysparkInterpreter(): Promise<string> {
  return (await clusterVenv().catch(unavailable)).python;
}

/** Two workers of one core, with Java as Spark runs it. */
export function startSpark(): Promise<SparkCluster> {
  return startSparkCluster({ isMeasured: true }).catch(unavailable);
}

function unavailable(error: unknown): never {
  throw error instanceof Missing ? new RivalUnavailable(error.message) : error;
}
