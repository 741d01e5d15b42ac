import { randomUUID } from 'node:crypto';
import { bytesField } from '@framehold/grpc';
import { Metadata } from '@grpc/grpc-js';
import { GrpcClient, gather } from '../../support/grpc-client.ts';

const service = '/spark.connect.SparkConnectService';

export interface RawSqlOptions {
  /** Of a server that asks for one. */
  readonly token?: string;
}

/** Runs SQL in a session of its own, unchecked, with a client that shares nothing with ours. Gives all bytes of the answer. */
export async function rawSql(url: string, sql: string, { token }: RawSqlOptions = {}): Promise<Buffer> {
  using client = new GrpcClient(Number(new URL(url.replace(/^sc:/, 'http:')).port));
  const headers = new Metadata();
  if (token !== undefined) headers.set('authorization', `Bearer ${token}`);
  const session = bytesField(1, randomUUID());
  const root = bytesField(1, bytesField(10, bytesField(1, sql)));
  const { code, message, messages } = await gather(
    client.open(`${service}/ExecutePlan`, Buffer.concat([session, bytesField(3, root)]), { headers }),
  );
  if (code !== 0) throw new Error(`${sql} failed with status ${code}: ${message.slice(0, 500)}`);
  await client.unary(`${service}/ReleaseSession`, session, { headers });
  return Buffer.concat(messages);
}
