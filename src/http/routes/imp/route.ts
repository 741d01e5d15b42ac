import { parseProducer, refuseProducer } from '../../../core/callers/producer.ts';
import type { Frames } from '../../../frames/frames.ts';
import { refuseCrossSite } from '../../exchange/cross-site-guard.ts';
import { jsonContentType } from '../../exchange/error-response.ts';
import type { Exchange } from '../../exchange/exchange.ts';
import type { Operation } from '../../exchange/operation.ts';
import type { JsonSchema } from '../../exchange/parameters.ts';
import { producerHeaders } from '../../exchange/producer.ts';
import { parseQueryString } from '../../exchange/query-string.ts';
import type { BodyLimits } from '../../exchange/request-body.ts';
import type { Route } from '../../exchange/route.ts';
import { sendJson, sendText } from '../../json/send-json.ts';
import { importAnswer, importAnswerSchema } from './answer.ts';
import { type ImportCommand, importParameters, parseImport } from './command.ts';
import { openUpload } from './open-upload.ts';
import { previewAnswerSchema, previewUpload } from './preview-upload.ts';
import { storeUpload } from './store-upload.ts';
import { importTextTable } from './text-table.ts';

const bytes: JsonSchema = { type: 'string', format: 'binary' };

const operation: Operation = {
  access: 'writeFrames',
  summary: 'Keeps a file as a frame',
  description:
    'The door of QuestDB for files. Answers when the frame is on disk for good; an upload that breaks off or cannot be read leaves nothing. Unlike in QuestDB a failure has a status of its own, and a row that cannot be read refuses the file unless `atomicity=skipRow`.',
  parameters: importParameters,
  headers: producerHeaders,
  requestBody: {
    required: true,
    description:
      'The file, or a form with it as part `data`, before which a part `schema` may stand. May be packed: Content-Encoding gzip, deflate, br or zstd; a file that begins as gzip or zstd does is unpacked, too. `http.max_body` bounds it packed and unpacked.',
    content: {
      'text/csv': { type: 'string' },
      'text/tab-separated-values': { type: 'string' },
      'application/vnd.apache.parquet': bytes,
      'application/vnd.apache.arrow.stream': bytes,
      'application/vnd.apache.arrow.file': bytes,
      'application/json': { type: ['array', 'object'] },
      'application/x-ndjson': { type: 'string' },
      'application/octet-stream': bytes,
      'multipart/form-data': {
        type: 'object',
        required: ['data'],
        properties: {
          schema: { type: 'string', description: 'As the parameter `schema`; at most 1 MB.' },
          data: { ...bytes, description: 'The file. Its name may tell the format.' },
        },
      },
    },
  },
  responses: {
    200: {
      description: 'The frame is kept; with `preview=true`, what the beginning of the file holds.',
      content: {
        'application/json': { anyOf: [importAnswerSchema, previewAnswerSchema] },
        'text/plain': { type: 'string' },
      },
    },
  },
  errors: [
    'invalid_parameter',
    'missing_parameter',
    'invalid_handle',
    'handle_exists',
    'schema_mismatch',
    'producer_gap',
    'producer_fenced',
    'invalid_input',
    'unsupported_format',
    'unsupported_type',
    'too_large',
    'quota_exceeded',
    'storage_full',
    'storage_read_only',
    'overloaded',
    'engine_crashed',
    'sql_out_of_memory',
  ],
};

export interface ImpRouteOptions {
  readonly frames: Pick<Frames, 'appendColumns' | 'put' | 'refusePut' | 'describe' | 'preview' | 'temporaryFile'>;
  readonly limits: BodyLimits;
}

export function impRoute({ frames, limits: given }: ImpRouteOptions): Route {
  return {
    path: '/imp',
    methods: ['POST', 'PUT'],
    takesBody: true,
    operations: { POST: operation, PUT: operation },
    async handle(exchange) {
      const start = performance.now();
      const { principal, signal, lane } = exchange;
      const limits = { ...given, takeMemory: (bytes: number) => exchange.takeMemory(bytes), lane };
      refuseCrossSite(exchange);
      const command = parseImport(parseQueryString(exchange.target));
      const producer = parseProducer(exchange.requestHeaders);
      if (command.mode !== 'append') refuseProducer(producer, 'nothing is appended');
      if (command.isPreview) {
        refuseProducer(producer, 'nothing is appended');
        return await preview(exchange, command, { frames, limits });
      }
      // Refused early, before the client sends gigabytes in vain.
      await frames.refusePut(principal, command);
      const upload = await openUpload(exchange, limits);
      try {
        const kept = await storeUpload(upload, command, { principal, producer, frames, limits, signal, lane });
        const { timestamp } = command;
        const answer = importAnswer({ ...kept, timestamp, ms: performance.now() - start });
        const isText = command.fmt === undefined ? upload.isForm : command.fmt === 'text';
        if (isText) sendText(exchange, importTextTable(answer));
        else sendJson(exchange, answer);
      } finally {
        upload.release();
      }
    },
  };
}

async function preview(exchange: Exchange, command: ImportCommand, { frames, limits }: ImpRouteOptions): Promise<void> {
  const { principal, signal, lane } = exchange;
  const upload = await openUpload(exchange, limits);
  try {
    sendText(exchange, await previewUpload(upload, command, { principal, frames, limits, signal, lane }), {
      contentType: jsonContentType,
    });
  } finally {
    upload.release();
  }
}
