import { createServer, type IncomingHttpHeaders, type ServerHttp2Stream } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { type ArrowField, arrowField, arrowTable, endOfStream, schemaMessage } from '@framehold/arrow-ipc';
import { joinBytes } from '@framehold/columns';
import { type GrpcStatusName, grpcStatus, MessageReader, message, messagePrefix, string } from '@framehold/grpc';
import {
  AnalyzePlanResponse,
  ConfigRequest,
  ConfigResponse,
  ErrorInfo,
  ExecutePlanRequest,
  ExecutePlanResponse,
  type ExecuteResponse,
  InterruptRequest,
  ReattachExecuteRequest,
  ReleaseExecuteRequest,
  RpcStatus,
} from '@framehold/spark-connect/messages';

export interface ConnectCall {
  readonly method: string;
  readonly request: Uint8Array;
  readonly stream: ServerHttp2Stream;
  readonly headers: IncomingHttpHeaders;
  /** Of an execution, its reattachment or its release. */
  readonly sessionId: string;
  readonly operationId: string;
  readonly lastResponseId: string | undefined;
  send(response: Partial<ExecuteResponse>): Promise<void>;
  /** Says of a plan that it has one column of BIGINT, called n. */
  describe(): void;
  end(): void;
  fail(status: GrpcStatusName, message: string, metadata?: Readonly<Record<string, string>>): void;
  /** Without an end, as when a connection breaks. */
  cut(): void;
}

export interface ScriptedConnectServer extends AsyncDisposable {
  readonly url: string;
  /** Methods in the order in which they were called. */
  readonly calls: string[];
  /** Ends every connection at once. */
  cutAll(): void;
}

export interface ScriptedConnectServerOptions {
  /** Distinguishes Spark, which has a name of its own for every session, from Sail. */
  readonly serverSideSessionId?: (sessionId: string) => string;
  /** Calls that only the script answers. Default: none of Config, Interrupt, ReleaseExecute and ReleaseSession. */
  readonly isLeftOpen?: (method: string) => boolean;
  /** Settings that stay as they are. Default: none. */
  readonly isFixedSetting?: (key: string) => boolean;
}

/** A server for faults that no real one can be made to have. Requests that the script ignores are answered as Spark would. */
export async function scriptedConnectServer(
  script: (call: ConnectCall) => Promise<void> | void,
  {
    serverSideSessionId: nameOf = () => '11111111-1111-4111-8111-111111111111',
    isLeftOpen = () => false,
    isFixedSetting = () => false,
  }: ScriptedConnectServerOptions = {},
): Promise<ScriptedConnectServer> {
  const calls: string[] = [];
  const settings = new Map<string, string | undefined>();
  const server = createServer();
  const sessions = new Set<{ destroy(): void }>();
  server.on('session', (session) => {
    sessions.add(session);
    session.on('error', () => {}).on('close', () => sessions.delete(session));
  });
  server.on('stream', async (stream, headers) => {
    stream.on('error', () => {});
    const method = String(headers[':path']).split('/').at(-1) ?? '';
    let request: Uint8Array = new Uint8Array(0);
    try {
      for await (const message of new MessageReader(stream, { maxMessageBytes: 1e9, encoding: undefined }))
        request = message;
    } catch {
      return;
    }
    calls.push(method);
    const ids = idsOf(method, request);
    const serverSideSessionId = nameOf(ids.sessionId);
    const respond = (): void => {
      if (stream.headersSent || stream.destroyed) return;
      stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
    };
    const close = (trailers: Record<string, string>): void => {
      if (stream.writableEnded) return;
      respond();
      stream.on('wantTrailers', () => stream.sendTrailers(trailers));
      stream.end();
    };
    const call: ConnectCall = {
      method,
      request,
      stream,
      headers,
      ...ids,
      async send(response) {
        respond();
        const own = { sessionId: ids.sessionId, operationId: ids.operationId, serverSideSessionId };
        const bytes = ExecutePlanResponse.encode({ ...own, ...response });
        if (!stream.write(Buffer.concat([messagePrefix(bytes.length), bytes]))) {
          await new Promise((resolve) => stream.once('drain', resolve).once('close', resolve));
        }
      },
      describe() {
        respond();
        const schema = { schema: Buffer.from('aa01090a070a016e12023a00', 'hex') };
        const bytes = AnalyzePlanResponse.encode({ sessionId: ids.sessionId, serverSideSessionId, schema });
        stream.write(Buffer.concat([messagePrefix(bytes.length), bytes]));
        close({ 'grpc-status': '0' });
      },
      end: () => close({ 'grpc-status': '0' }),
      fail(status, message, metadata = {}) {
        const info = ErrorInfo.encode({ metadata: new Map(Object.entries(metadata)) });
        const details = [{ typeUrl: 'type.googleapis.com/google.rpc.ErrorInfo', value: info }];
        close({
          'grpc-status': String(grpcStatus[status]),
          'grpc-message': encodeURIComponent(message),
          'grpc-status-details-bin': Buffer.from(RpcStatus.encode({ message, details })).toString('base64'),
        });
      },
      cut: () => stream.session?.destroy(),
    };
    if (isLeftOpen(method)) await script(call);
    else if (method === 'Config') {
      respond();
      const { set, get } = ConfigRequest.decode(request).operation ?? {};
      for (const { key, value } of set?.pairs ?? []) if (!isFixedSetting(key)) settings.set(key, value);
      const pairs = (get?.keys ?? []).map((key) => ({ key, value: settings.get(key) }));
      const answer = ConfigResponse.encode({ sessionId: ids.sessionId, serverSideSessionId, pairs });
      stream.write(Buffer.concat([messagePrefix(answer.length), answer]));
      call.end();
    } else if (method === 'Interrupt' || method === 'ReleaseExecute' || method === 'ReleaseSession') {
      respond();
      stream.write(messagePrefix(0));
      call.end();
      await script(call);
    } else await script(call);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const cutAll = (): void => {
    for (const session of sessions) session.destroy();
  };
  return {
    url: `sc://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls,
    cutAll,
    async [Symbol.asyncDispose]() {
      cutAll();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** The common fields of all requests; their other fields have other types in each. */
const SessionRequest = message({ sessionId: string(1) });

function idsOf(method: string, request: Uint8Array) {
  const read = {
    ExecutePlan: ExecutePlanRequest,
    ReattachExecute: ReattachExecuteRequest,
    ReleaseExecute: ReleaseExecuteRequest,
    Interrupt: InterruptRequest,
  }[method];
  const found: { sessionId: string; operationId?: string; lastResponseId?: string | undefined } = (
    read ?? SessionRequest
  ).decode(request);
  const { sessionId, operationId = '', lastResponseId } = found;
  return { sessionId, operationId, lastResponseId };
}

const id = arrowField('id', { kind: 'int', bits: 64, signed: true });

/** An answer with these numbers, as Spark sends them. */
export function batchOf(ids: readonly number[], responseId: string): Partial<ExecuteResponse> {
  const rows = ids.map((value) => [value]);
  return answerOf([id], rows, responseId);
}

export function answerOf(
  fields: readonly ArrowField[],
  rows: readonly (readonly unknown[])[],
  responseId: string,
): Partial<ExecuteResponse> {
  const data = joinBytes([schemaMessage(fields), arrowTable(fields, rows), endOfStream]);
  return { responseId, arrowBatch: { rowCount: BigInt(rows.length), data } };
}
