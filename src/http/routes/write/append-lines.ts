import { lightBytes, ownTurn } from '@framehold/async';
import { Semaphore } from '../../../core/async/semaphore.ts';
import type { Principal } from '../../../core/callers/principal.ts';
import type { Producer } from '../../../core/callers/producer.ts';
import { AppError, toAppError } from '../../../core/errors/app-error.ts';
import { type Handle, parseHandle } from '../../../core/names/handle.ts';
import { LineParser, type LineParserOptions, paused } from '../../../encoding/line-protocol/line-parser.ts';
import type { MeasurementRows } from '../../../encoding/line-protocol/measurement-rows.ts';
import type { Frames } from '../../../frames/frames.ts';
import { heldColumns } from '../../exchange/held-columns.ts';
import { atLine, isCode } from './write-error.ts';

export interface AppendLines extends LineParserOptions {
  readonly body: Uint8Array;
  readonly producer: Producer | undefined;
}

export interface AppendContext {
  readonly frames: Pick<Frames, 'appendColumns' | 'describe' | 'put'>;
  readonly principal: Principal;
  /** Its signal is made on demand, which a small append does not need. */
  readonly request: { readonly signal: AbortSignal; readonly lane: string };
}

/** Other requests may change the columns of a frame between the look-up and the append. */
const mostAttempts = 5;
const putsAtOnce = 8;

/** Adds each measurement of a body to its frame. Nothing is stored before every line is checked. */
export async function appendLines(lines: AppendLines, context: AppendContext): Promise<void> {
  const kept = new Set<string>();
  for (let attempt = 1; ; attempt++) {
    const parsed = await parseLines(lines, context, attempt === 1).catch((error: unknown) => {
      throw kept.size === 0 ? error : keptInPart(toAppError(error), kept);
    });
    try {
      await putAll(
        parsed.filter(({ name }) => !kept.has(name)),
        lines,
        context,
        kept,
      );
      return;
    } catch (error) {
      if (!isCode(error, 'schema_mismatch') || attempt === mostAttempts) throw error;
    }
  }
}

/** A line that no longer fits, after another request changed its frame: too late for an error that says that nothing was kept. */
function keptInPart({ message }: AppError, kept: ReadonlySet<string>): AppError {
  const names = [...kept].slice(0, 20).join(', ');
  return new AppError(
    'schema_mismatch',
    `the columns of a frame changed meanwhile: ${message}. The lines of ${names} are kept`,
    {
      hint: 'send the other measurements again',
    },
  );
}

async function parseLines(lines: AppendLines, context: AppendContext, mayPeek: boolean): Promise<MeasurementRows[]> {
  if (lines.body.length > lightBytes) await ownTurn(context.request.lane);
  const { frames, principal, request } = context;
  const parser = new LineParser(lines.body, lines);
  for (let pending = parser.next(); pending !== undefined; pending = parser.next()) {
    if (pending === paused) {
      await ownTurn(context.request.lane);
      continue;
    }
    try {
      const handle = parseHandle(pending.name);
      // Without a right to write, the answer reveals nothing about the frame.
      const known = frames.appendColumns(principal, handle);
      parser.know((mayPeek ? known : undefined) ?? (await heldColumns(frames, principal, handle, request)));
    } catch (error) {
      throw atLine(pending.line, toAppError(error));
    }
  }
  return [...parser.measurements];
}

async function putAll(
  measurements: readonly MeasurementRows[],
  lines: AppendLines,
  context: AppendContext,
  kept: Set<string>,
): Promise<void> {
  const put = async (rows: MeasurementRows): Promise<void> => {
    await putRows(rows, lines, context);
    kept.add(rows.name);
  };
  const [only] = measurements;
  if (only !== undefined && measurements.length === 1) {
    await put(only);
    return;
  }
  const semaphore = new Semaphore(putsAtOnce);
  const results = await Promise.allSettled(measurements.map((rows) => semaphore.run(() => put(rows))));
  const failures = results.filter((result) => result.status === 'rejected').map(({ reason }) => reason as unknown);
  // Errors that a second look cannot resolve come first.
  if (failures.length > 0) throw failures.find((reason) => !isCode(reason, 'schema_mismatch')) ?? failures[0];
}

async function putRows(rows: MeasurementRows, { producer }: AppendLines, context: AppendContext): Promise<void> {
  const { frames, principal, request } = context;
  const handle = rows.name as Handle;
  const source = { kind: 'batch', batch: rows.batch() } as const;
  await frames.put(principal, { handle, mode: 'append', source, producer, addsColumns: rows.isWider }, request);
}
