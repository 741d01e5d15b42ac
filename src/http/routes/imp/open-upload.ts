import { AppError } from '../../../core/errors/app-error.ts';
import { decodeBody, parseContentEncoding } from '../../body/decode-body.ts';
import { type BodyPart, Multipart } from '../../body/multipart.ts';
import { boundaryOf } from '../../body/multipart-head.ts';
import type { Exchange } from '../../exchange/exchange.ts';
import type { BodyLimits } from '../../exchange/request-body.ts';
import { parseSchema, type TypesByColumn } from './schema.ts';

/** An uploaded file, unpacked. */
export interface Upload {
  /** As part of a form, which browsers and QuestDB's clients send. */
  readonly isForm: boolean;
  readonly contentType: string | undefined;
  readonly fileName: string | undefined;
  /** The part `schema` of a form. */
  readonly types: TypesByColumn | undefined;
  /** Ends only where the whole request was as it should be. */
  readonly body: AsyncGenerator<Buffer, void, undefined>;
  /** Stops reading. Does not wait for bytes that may never come. */
  release(): void;
}

const maxSchemaBytes = 1_000_000;

/** Opens the body of a request: the file itself, or a form with parts `schema` (if any) and `data`. */
export async function openUpload(exchange: Exchange, limits: BodyLimits): Promise<Upload> {
  const headers = exchange.requestHeaders;
  const codings = parseContentEncoding(headers['content-encoding']);
  const contentType = headers['content-type'];
  const boundary = boundaryOf(contentType);
  const body = decodeBody(exchange.body(limits), codings, limits);
  if (boundary === undefined) {
    return { isForm: false, contentType, fileName: undefined, types: undefined, body, release: releaser(body) };
  }
  const parts = new Multipart(body, boundary).parts();
  try {
    const form = await openForm(exchange, parts, limits);
    return { ...form, release: releaser(form.body, parts) };
  } catch (error) {
    releaser(parts)();
    throw error;
  }
}

function releaser(...generators: AsyncGenerator<unknown, void, undefined>[]): () => void {
  return () => {
    for (const generator of generators) generator.return().catch(() => {});
  };
}

async function openForm(
  exchange: Exchange,
  parts: AsyncGenerator<BodyPart, void, undefined>,
  limits: BodyLimits,
): Promise<Omit<Upload, 'release'>> {
  let types: TypesByColumn | undefined;
  for (;;) {
    const step = await parts.next();
    if (step.done === true) {
      throw new AppError('invalid_input', 'the form has no part data', {
        hint: 'send the file as curl -F data=@file does',
      });
    }
    const { name, fileName, contentType, contentEncoding, body } = step.value;
    if (name === 'data') {
      const decoded = decodeBody(body, parseContentEncoding(contentEncoding), limits);
      return { isForm: true, contentType, fileName, types, body: thenNothingElse(decoded, parts) };
    }
    if (name !== 'schema') throw unknownPart(name);
    if (types !== undefined) throw new AppError('invalid_input', 'the form has more than one part schema');
    types = parseSchema((await exchange.hold(upTo(maxSchemaBytes, body))).toString());
  }
}

/** The rest behind the file is read before its end is reported: a form that breaks off must not become a frame. */
async function* thenNothingElse(
  body: AsyncGenerator<Buffer, void, undefined>,
  parts: AsyncGenerator<BodyPart, void, undefined>,
): AsyncGenerator<Buffer, void, undefined> {
  yield* body;
  const step = await parts.next();
  if (step.done === true) return;
  const { name } = step.value;
  if (name === 'schema') {
    throw new AppError('invalid_input', 'the part schema stands behind the part data', { hint: 'send schema first' });
  }
  if (name !== 'data') throw unknownPart(name);
  throw new AppError('invalid_input', 'the form has more than one part data', { hint: 'send one file at a time' });
}

async function* upTo(maxBytes: number, body: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void, undefined> {
  let bytes = 0;
  for await (const piece of body) {
    bytes += piece.length;
    if (bytes > maxBytes) throw new AppError('too_large', `the part schema is larger than ${maxBytes} bytes`);
    yield piece;
  }
}

function unknownPart(name: string): AppError {
  return new AppError(
    'invalid_input',
    `the form has a part ${JSON.stringify(name.slice(0, 100))}, which is not known`,
    {
      hint: 'the parts are schema, if you have one, and then data; other parameters belong into the query string',
    },
  );
}
