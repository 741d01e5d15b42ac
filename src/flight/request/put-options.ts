import type { IncomingHttpHeaders } from 'node:http2';
import { AppError } from '../../core/errors/app-error.ts';
import { type FrameName, parseFrameName } from '../../core/names/frame-name.ts';
import { parseDurationMs } from '../../core/text/duration.ts';
import type { JsonValue } from '../../encoding/json/json-text.ts';
import type { PutRequest } from '../../frames/write/put-frame.ts';
import type { Descriptor } from './descriptor.ts';
import { decodeUtf8, invalidKey, readJsonKeys } from './json-object.ts';

/** The target and the mode of an upload. */
export interface PutOptions extends Pick<PutRequest, 'handle' | 'mode' | 'ttlMs'> {
  /** The acknowledgement: of the whole upload at its end, or of each record batch of an append. */
  readonly ack: 'end' | 'batch';
}

interface Given {
  readonly handle?: FrameName | undefined;
  readonly mode?: PutRequest['mode'] | undefined;
  readonly ttlMs?: number | null | undefined;
  readonly ack?: PutOptions['ack'] | undefined;
}

/** From the descriptor's command, the first message's metadata and the headers; where they differ, in this order. */
export function parsePutOptions(
  descriptor: Descriptor,
  appMetadata: Uint8Array,
  headers: IncomingHttpHeaders,
): PutOptions {
  const { 'framehold-mode': headerMode, 'framehold-ttl': headerTtl, 'framehold-ack': headerAck } = headers;
  const byHeader = fromKeys({ mode: headerMode, ttl: headerTtl, ack: headerAck }, 'the headers');
  const byMetadata = appMetadata.length === 0 ? {} : fromJson(appMetadata, ['mode', 'ttl', 'ack'], 'app_metadata');
  const byDescriptor = fromDescriptor(descriptor);
  const given: Given = { ...defined(byHeader), ...defined(byMetadata), ...defined(byDescriptor) };
  const { handle, mode = 'create', ttlMs, ack = 'end' } = given;
  if (ack === 'batch' && mode !== 'append') {
    throw new AppError('invalid_parameter', `ack is "batch", and the mode is ${mode}`, {
      hint: 'only appends are acknowledged by the batch: say "mode":"append"',
    });
  }
  return { handle, mode, ttlMs, ack };
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
      return fromJson(descriptor.command, ['handle', 'mode', 'ttl', 'ack'], 'the command of the descriptor');
    default:
      return descriptor satisfies never;
  }
}

function fromJson(bytes: Uint8Array, keys: readonly ('handle' | 'mode' | 'ttl' | 'ack')[], what: string): Given {
  const text = decodeUtf8(bytes);
  if (text === undefined) throw new AppError('invalid_parameter', `${what} is not JSON`);
  const { handle, ...others } = readJsonKeys(text, keys, what);
  if (handle !== undefined && handle !== null && typeof handle !== 'string') {
    throw invalidKey(what, 'handle', handle, 'text');
  }
  return { ...(typeof handle === 'string' && { handle: parseFrameName(handle) }), ...fromKeys(others, what) };
}

interface WrittenOptions {
  readonly mode?: JsonValue | undefined;
  readonly ttl?: JsonValue | undefined;
  readonly ack?: JsonValue | undefined;
}

function fromKeys({ mode, ttl, ack }: WrittenOptions, what: string): Given {
  return { mode: parseMode(mode, what), ttlMs: parseTtlMs(ttl, what), ack: parseAck(ack, what) };
}

function parseAck(ack: JsonValue | undefined, what: string): PutOptions['ack'] | undefined {
  if (ack === undefined || ack === null) return undefined;
  if (ack === 'end' || ack === 'batch') return ack;
  throw invalidKey(what, 'ack', ack, 'end or batch');
}

function parseMode(mode: JsonValue | undefined, what: string): PutRequest['mode'] | undefined {
  if (mode === undefined || mode === null) return undefined;
  if (mode === 'create' || mode === 'overwrite' || mode === 'append') return mode;
  throw invalidKey(what, 'mode', mode, 'create, overwrite or append');
}

function defined(given: Given): Given {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}
