import { AppError } from '../../core/errors/app-error.ts';

/** The headers of a part. */
export interface PartHead {
  readonly name: string;
  readonly fileName: string | undefined;
  readonly contentType: string | undefined;
  readonly contentEncoding: string | undefined;
}

/** The text between the boundaries of a `multipart/form-data` header, or undefined where it is of another type. */
export function boundaryOf(contentType: string | undefined): string | undefined {
  if (!/^multipart\//i.test(contentType ?? '')) return undefined;
  const boundary = parametersOf(contentType ?? '').get('boundary') ?? '';
  if (!/^multipart\/form-data\b/i.test(contentType ?? '')) {
    throw new AppError('unsupported_format', `a body of the type ${contentType?.split(';', 1)[0]} cannot be read`, {
      hint: 'send multipart/form-data with a part data, or the file itself as the body',
    });
  }
  if (/^[\x20-\x7e]{1,70}$/.test(boundary)) return boundary;
  throw new AppError('invalid_input', 'the Content-Type multipart/form-data names no boundary', {
    hint: 'let your client set this header itself, as curl -F and FormData do',
  });
}

export function parsePartHead(lines: readonly string[]): PartHead {
  const headers = new Map<string, string>();
  for (const line of lines) {
    const colon = line.indexOf(':');
    if (colon > 0) headers.set(line.slice(0, colon).trim().toLowerCase(), line.slice(colon + 1).trim());
  }
  const disposition = parametersOf(headers.get('content-disposition') ?? '');
  const name = disposition.get('name');
  if (name === undefined) throw new AppError('invalid_input', 'a part of the form has no name');
  const transfer = headers.get('content-transfer-encoding')?.toLowerCase() ?? 'binary';
  if (!['binary', '8bit', '7bit'].includes(transfer)) {
    throw new AppError('unsupported_format', `part ${JSON.stringify(name.slice(0, 100))} is written in ${transfer}`, {
      hint: 'send its bytes as they are',
    });
  }
  return {
    name,
    fileName: disposition.get('filename'),
    contentType: headers.get('content-type'),
    contentEncoding: headers.get('content-encoding'),
  };
}

/** The text behind the first `;` of a header: `name=value` or `name="value"`. */
function parametersOf(header: string): ReadonlyMap<string, string> {
  const parameters = new Map<string, string>();
  for (const [, name = '', quoted, bare = ''] of header.matchAll(/;\s*([\w*-]+)=(?:"((?:[^"\\]|\\.)*)"|([^\s;]*))/g)) {
    parameters.set(name.toLowerCase(), quoted?.replaceAll(/\\(["\\])/g, '$1') ?? bare);
  }
  return parameters;
}
