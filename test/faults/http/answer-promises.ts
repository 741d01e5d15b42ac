import { errorCodes } from '../../../src/core/errors/app-error.ts';
import { httpStatus } from '../../../src/http/exchange/error-response.ts';
import { promised } from '../harness/scenario.ts';
import type { ParsedAnswer } from './parsed-answers.ts';

/** What nobody outside should ever read. */
const inside =
  /node:|\bat (?:\w|\/|file:)[^\n]{0,200}:\d+:\d+|Error:|\.(?:js|ts|mjs):\d+|\/node_modules\/|\/dist\/|DuckDB(?:Error|Instance)/;

/** Where Node itself answers, before any code of ours: a head that no Host came with, an Expect that is not known. */
const answersOfNode = new Set([400, 408, 416, 417]);

/** Every answer of a healthy server: no 5xx but those named, errors in the one shape, nothing of the inside. */
export function checkAnswer(
  { status, headers, body }: ParsedAnswer,
  { dataDir, allowed = [] }: { readonly dataDir: string; readonly allowed?: readonly string[] },
): void {
  const text = body.toString();
  const isText = /^(?:text|application\/(?:json|x-ndjson))/.test(headers.get('content-type') ?? '');
  if (isText && headers.get('content-encoding') === undefined) {
    const found = inside.exec(text)?.[0] ?? (text.includes(dataDir) ? dataDir : undefined);
    promised(found === undefined, 'no answer shows anything of the inside', { found, text: text.slice(0, 500) });
  }
  if (status < 400) return;
  if (body.length === 0) {
    const isToHead = headers.get('content-type')?.startsWith('application/json') === true;
    promised(isToHead || answersOfNode.has(status), 'an error has a body', status);
    return;
  }
  const code = codeOf(text);
  promised(code !== undefined, 'an error has the one shape and a code of the list', {
    status,
    text: text.slice(0, 500),
  });
  promised(httpStatus[code] === status, `${code} has its status`, status);
  promised(status < 500 || allowed.includes(code), 'a healthy server answers no 5xx', {
    status,
    text: text.slice(0, 500),
  });
}

function codeOf(text: string): (typeof errorCodes)[number] | undefined {
  try {
    const { code, error, message, errorId } = JSON.parse(text) as Record<string, unknown>;
    // In the shape of QuestDB, at its door for lines.
    const isOfQuestDb = typeof message === 'string' && message !== '' && typeof errorId === 'string';
    if (isOfQuestDb && code === 'invalid') return 'invalid_input';
    if (!isOfQuestDb && (typeof error !== 'string' || error === '')) return undefined;
    return errorCodes.find((each) => each === code);
  } catch {
    return undefined;
  }
}
