import { isToExamine, type Part } from '../disk/part.ts';

/** The facts of a part for the plan. */
export interface MergePart extends Pick<Part, 'size' | 'uncompressedBytes'> {
  /** False for parts from outside, and for parts that could not be rewritten before. They separate runs. */
  readonly isMergeable: boolean;
}

/** The parts [from, to). */
export interface PartRun {
  readonly from: number;
  readonly to: number;
}

export interface MergeOptions {
  /** Nothing was added to the frame for a while: its small parts are merged sooner. Default false. */
  readonly standsStill?: boolean | undefined;
}

/** A part this large is never merged again. */
const largeBytes = 32 * 2 ** 20;
/** A run of this many bytes is merged whatever its parts are: the result is large. */
const targetBytes = 2 * largeBytes;
const mostRunBytes = 4 * largeBytes;
/** Each part of a run is a file that is opened. */
const mostRunParts = 500;
/**
 * A run is merged when it has this many times the bytes of its largest part. With each merge the part that holds a row grows by
 * that, so a row of a part of 1 KiB is rewritten three times until its part is large.
 */
const growth = 32;
/** The same for a frame without new rows: fewer parts, and a few rewrites more if frames pause again and again. */
const growthAtStandstill = 2;
/** With more small parts than these, some are merged whatever their sizes. */
const mostSmallParts = 256;
const forcedRunParts = 32;
/** In a frame of more parts than these, new small ones are not compressed one by one: they are merged soon. */
const fewParts = 8;
const smallBytes = 2 ** 20;
/** Well compressed parts take as long as their rows do. */
const compressionCounted = 8;

/** The adjacent parts that are to become one next; a single one is only compressed as configured, or looked at. Empty: none. */
export function planRewrite<P extends Part>(
  parts: readonly P[],
  { isLeft = () => false, ...options }: MergeOptions & { readonly isLeft?: (part: P) => boolean } = {},
): readonly P[] {
  const isOurs = (part: P): boolean => part.checksum !== null && !isLeft(part);
  const run = planMerge(
    parts.map((part) => ({ ...part, isMergeable: isOurs(part) })),
    options,
  );
  if (run !== undefined) return parts.slice(run.from, run.to);
  const waits = ({ size }: P): boolean => parts.length > fewParts && size < smallBytes && !options.standsStill;
  const isToCompress = (part: P): boolean => !part.final && !waits(part);
  const part = parts.find((one) => !isLeft(one) && (isToCompress(one) || isToExamine(one)));
  return part === undefined ? [] : [part];
}

/** Which adjacent parts to merge into one next. Undefined: none. */
export function planMerge(
  parts: readonly MergePart[],
  { standsStill = false }: MergeOptions = {},
): PartRun | undefined {
  const stretches = smallStretches(parts);
  const least = standsStill ? growthAtStandstill : growth;
  const bytesBefore = bytesBeforeEach(parts);
  const bytesOf = ({ from, to }: PartRun): number => (bytesBefore[to] ?? 0) - (bytesBefore[from] ?? 0);
  let best: PartRun | undefined;
  for (const { largest, ...window } of stretches.flatMap((stretch) => windowsOf(parts, stretch))) {
    const leastBytes = Math.min(least * largest, targetBytes);
    if (bytesOf(window) < leastBytes) continue;
    const run = cut(parts, window);
    // The largest run contains smaller runs, whose parts are then rewritten once instead of several times.
    if (bytesOf(run) >= leastBytes && (best === undefined || bytesOf(run) > bytesOf(best))) best = run;
  }
  if (best !== undefined) return best;
  const small = stretches.reduce((sum, { from, to }) => sum + to - from, 0);
  return small > mostSmallParts ? cheapestRun(stretches, bytesOf) : undefined;
}

function weightOf({ size, uncompressedBytes }: MergePart): number {
  return Math.max(size, uncompressedBytes / compressionCounted);
}

function bytesBeforeEach(parts: readonly MergePart[]): readonly number[] {
  const sums = [0];
  for (const [index, part] of parts.entries()) sums.push((sums[index] ?? 0) + weightOf(part));
  return sums;
}

/** The longest runs of parts that may be merged. */
function smallStretches(parts: readonly MergePart[]): PartRun[] {
  const stretches: PartRun[] = [];
  let from = 0;
  for (let at = 0; at <= parts.length; at++) {
    const part = parts[at];
    if (part?.isMergeable && weightOf(part) < largeBytes) continue;
    if (at - from > 1) stretches.push({ from, to: at });
    from = at + 1;
  }
  return stretches;
}

interface Window extends PartRun {
  readonly largest: number;
}

/** For each part the longest run in which none is larger. */
function windowsOf(parts: readonly MergePart[], { from, to }: PartRun): Window[] {
  const windows: Window[] = [];
  /** Parts whose windows are open, each smaller than the one before. */
  const open: { readonly from: number; readonly largest: number }[] = [];
  for (let at = from; at <= to; at++) {
    const part = at === to ? undefined : parts[at];
    const weight = part === undefined ? Number.POSITIVE_INFINITY : weightOf(part);
    let begin = at;
    for (let last = open.at(-1); last !== undefined && last.largest <= weight; last = open.at(-1)) {
      open.pop();
      begin = last.from;
      if (last.largest < weight) windows.push({ ...last, to: at });
    }
    open.push({ from: begin, largest: weight });
  }
  return windows;
}

/** As many of them as are merged at once. */
function cut(parts: readonly MergePart[], { from, to }: PartRun): PartRun {
  let bytes = 0;
  let end = from;
  for (const part of parts.slice(from, Math.min(to, from + mostRunParts))) {
    bytes += weightOf(part);
    if (bytes > mostRunBytes) break;
    end++;
  }
  return { from, to: end };
}

function cheapestRun(stretches: readonly PartRun[], bytesOf: (run: PartRun) => number): PartRun | undefined {
  let cheapest: PartRun | undefined;
  let leastBytes = Number.POSITIVE_INFINITY;
  for (const stretch of stretches) {
    const length = Math.min(forcedRunParts, stretch.to - stretch.from);
    for (let from = stretch.from; from + length <= stretch.to; from++) {
      const run = { from, to: from + length };
      const bytesEach = bytesOf(run) / (length - 1);
      if (bytesEach >= leastBytes || bytesOf(run) > mostRunBytes) continue;
      cheapest = run;
      leastBytes = bytesEach;
    }
  }
  return cheapest;
}
