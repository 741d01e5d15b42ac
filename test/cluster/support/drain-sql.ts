import { randomUUID } from 'node:crypto';
import { bytesField } from '../../../src/protobuf/protobuf.ts';
import { GrpcClient, gather } from '../../support/grpc-client.ts';

const service = '/spark.connect.SparkConnectService';

/** Runs a query in a session of its own and forgets its rows, with a client that shares nothing with ours. */
export async function drainSql(url: string, sql: string): Promise<void> {
  using client = new GrpcClient(Number(new URL(url.replace(/^sc:/, 'http:')).port));
  const session = bytesField(1, randomUUID());
  const root = bytesField(1, bytesField(10, bytesField(1, sql)));
  const { code, message } = await gather(
    client.open(`${service}/ExecutePlan`, Buffer.concat([session, bytesField(3, root)])),
  );
  if (code !== 0) throw new Error(`${sql} failed with status ${code}: ${message.slice(0, 500)}`);
  await client.unary(`${service}/ReleaseSession`, session);
}
