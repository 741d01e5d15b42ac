import { FairShares } from '../../../core/async/fair-shares.ts';
import { parseProducer } from '../../../core/callers/producer.ts';
import { AppError } from '../../../core/errors/app-error.ts';
import { LruMap } from '../../../core/system/lru-map.ts';
import type { Frames } from '../../../frames/frames.ts';
import { decodeBody, parseContentEncoding } from '../../body/decode-body.ts';
import { refuseCrossSite } from '../../exchange/cross-site-guard.ts';
import type { Exchange } from '../../exchange/exchange.ts';
import type { Operation } from '../../exchange/operation.ts';
import { producerHeaders } from '../../exchange/producer.ts';
import type { BodyLimits } from '../../exchange/request-body.ts';
import type { Route } from '../../exchange/route.ts';
import { storageErrors } from '../../openapi/error-groups.ts';
import { appendLines } from './append-lines.ts';
import { parseWrite, type WriteCommand, writeParameters } from './command.ts';
import { isCode, writeErrorBody, writeErrorSchema } from './write-error.ts';

/** Smaller bodies need not ask for memory of their columns. */
const smallBytes = 1_000_000;
/** Columns of lines take about so many times the bytes of the lines, while they grow. */
const columnsPerByte = 4;
const mostColumnBytes = 300_000_000;

const operation: Operation = {
  access: 'writeFrames',
  summary: 'Adds lines of the line protocol of InfluxDB to frames',
  description:
    'The door of QuestDB and InfluxDB for rows. A measurement is the handle of a frame, which is made where there is none. Every line is checked before anything is kept: a 400 names its line, and nothing of the body is kept. Each measurement is one append. Answers when the rows are on disk for good.',
  parameters: writeParameters,
  headers: producerHeaders,
  requestBody: {
    required: true,
    description:
      'Lines such as `trades,symbol=BTC-USD price=71039.35,amount=5i 1763424000000000000`. May be packed: Content-Encoding gzip, deflate, br or zstd. `write.max_body` bounds it packed and unpacked.',
    content: { 'text/plain': { type: 'string' } },
  },
  responses: { 204: { description: 'The rows are kept.', content: {} } },
  errorSchema: writeErrorSchema,
  errors: [
    'invalid_parameter',
    'missing_parameter',
    'invalid_handle',
    'invalid_input',
    'unsupported_format',
    'schema_mismatch',
    'producer_gap',
    'producer_fenced',
    'too_large',
    'quota_exceeded',
    ...storageErrors,
    'frame_damaged',
    'engine_crashed',
    'sql_out_of_memory',
  ],
};

export interface WriteRouteOptions {
  readonly frames: Pick<Frames, 'appendColumns' | 'describe' | 'put'>;
  readonly limits: BodyLimits;
  /** If the request does not say it. */
  readonly addsColumns: boolean;
}

/** `POST /write` of QuestDB and InfluxDB 1, and `POST /api/v2/write` of InfluxDB 2. */
export function writeRoutes({ frames, limits, addsColumns }: WriteRouteOptions): readonly Route[] {
  /** A client repeats the same query string each time. */
  const commands = new LruMap<WriteCommand>(100);
  const commandOf = (target: string): WriteCommand => {
    const known = commands.get(target);
    if (known !== undefined) return known;
    const command = parseWrite(target);
    if (target.length < 1000) commands.set(target, command);
    return command;
  };
  const columnMemory = new FairShares({ units: mostColumnBytes, what: 'bytes of columns of lines' });
  const handle: Route['handle'] = async (exchange) => {
    refuseCrossSite(exchange);
    const command = commandOf(exchange.target);
    const producer = parseProducer(exchange.requestHeaders);
    const body = await linesBody(exchange, limits);
    const { principal, lane } = exchange;
    using columns = body.length > smallBytes ? columnMemory.open({ lane }) : undefined;
    await columns?.take(Math.min(body.length * columnsPerByte, mostColumnBytes), { signal: exchange.signal });
    const now = BigInt(Date.now()) * 1_000_000n;
    const { precision } = command;
    const lines = { precision, addsColumns: command.addsColumns ?? addsColumns, now, body, producer };
    await appendLines(lines, { frames, principal, request: exchange });
    exchange.send(204);
  };
  const common = {
    methods: ['POST'],
    takesBody: true,
    operations: { POST: operation },
    errorBody: writeErrorBody,
    handle,
  } as const satisfies Omit<Route, 'path'>;
  return [
    { path: '/write', ...common },
    { path: '/api/v2/write', ...common },
  ];
}

/** A whole body of lines, unpacked. */
async function linesBody(exchange: Exchange, given: BodyLimits): Promise<Uint8Array> {
  const limits = { ...given, takeMemory: (bytes: number) => exchange.takeMemory(bytes), lane: exchange.lane };
  const { 'content-encoding': coding, 'content-length': length } = exchange.requestHeaders;
  if (Number(length ?? 0) > limits.maxBodyBytes) throw tooLarge(limits);
  const raw = exchange.body(limits);
  try {
    return await exchange.hold(coding === undefined ? raw : decodeBody(raw, parseContentEncoding(coding), limits));
  } catch (error) {
    throw isCode(error, 'too_large') && error.hint?.includes('http.max_body') ? tooLarge(limits) : error;
  }
}

function tooLarge({ maxBodyBytes }: BodyLimits): AppError {
  return new AppError('too_large', `the body is larger than the ${maxBodyBytes} bytes allowed`, {
    hint: 'send fewer lines at once, or let the operator raise write.max_body',
  });
}
