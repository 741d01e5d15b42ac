import type { IncomingHttpHeaders } from 'node:http2';
import { AppError } from '../../core/app-error.ts';
import { type FrameName, parseFrameName } from '../../core/frame-name.ts';
import { parseDurationMs } from '../../core/text/duration.ts';
import type { JsonValue } from '../../encoding/json/json-text.ts';
import type { PutRequest } from '../../frames/write/put-frame.ts';
import type { Descriptor } from './descriptor.ts';
import { decodeUtf8, invalidKey, readJsonKeys } from './json-object.ts';

/** How and where an upload is to be kept. */
export type PutOptions = Pick<PutRequest, 'handle' | 'mode' | 'ttlMs'>;

interface Given {
  readonly handle?: FrameName | undefined;
  readonly mode?: PutRequest['mode'] | undefined;
  readonly ttlMs?: number | null | undefined;
}

/** From the descriptor's command, the first message's metadata and the headers; where they differ, in this order. */
export function parsePutOptions(
  descriptor: Descriptor,
  appMetadata: Uint8Array,
  headers: IncomingHttpHeaders,
): PutOptions {
  const byHeader = fromKeys(headers['framehold-mode'], headers['framehold-ttl'], 'the headers');
  const byMetadata = appMetadata.length === 0 ? {} : fromJson(appMetadata, ['mode', 'ttl'], 'app_metadata');
  const byDescriptor = fromDescriptor(descriptor);
  const { handle, mode = 'create', ttlMs } = { ...defined(byHeader), ...defined(byMetadata), ...defined(byDescriptor) };
  return { handle, mode, ttlMs };
}

/** `null` (the frame stays), a number of seconds, or text such as `90s`. */
export function parseTtlMs(ttl: JsonValue | undefined, what: string): number | null | undefined {
  if (ttl === undefined || ttl === null) return ttl;
  if (typeof ttl !== 'string' && typeof ttl !== 'number') throw invalidKey(what, 'ttl', ttl, 'a duration, e.g. "15m"');
  const ttlMs = parseDurationMs(String(ttl));
  if (ttlMs === 0) throw invalidKey(what, 'ttl', ttl, 'more than 0; leave it out to keep the frame');
  return ttlMs;
}

function fromDescriptor(descriptor: Descriptor): Given {
  switch (descriptor.kind) {
    case 'none':
      return {};
    case 'handle':
      return { handle: descriptor.handle };
    case 'command':
      return fromJson(descriptor.command, ['handle', 'mode', 'ttl'], 'the command of the descriptor');
    default:
      return descriptor satisfies never;
  }
}

function fromJson(bytes: Uint8Array, keys: readonly ('handle' | 'mode' | 'ttl')[], what: string): Given {
  const text = decodeUtf8(bytes);
  if (text === undefined) throw new AppError('invalid_parameter', `${what} is not JSON`);
  const { handle, mode, ttl } = readJsonKeys(text, keys, what);
  if (handle !== undefined && handle !== null && typeof handle !== 'string') {
    throw invalidKey(what, 'handle', handle, 'text');
  }
  return { ...(typeof handle === 'string' && { handle: parseFrameName(handle) }), ...fromKeys(mode, ttl, what) };
}

function fromKeys(mode: JsonValue | undefined, ttl: JsonValue | undefined, what: string): Given {
  return { mode: parseMode(mode, what), ttlMs: parseTtlMs(ttl, what) };
}

function parseMode(mode: JsonValue | undefined, what: string): PutRequest['mode'] | undefined {
  if (mode === undefined || mode === null) return undefined;
  if (mode === 'create' || mode === 'overwrite' || mode === 'append') return mode;
  throw invalidKey(what, 'mode', mode, 'create, overwrite or append');
}

function defined(given: Given): Given {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}
