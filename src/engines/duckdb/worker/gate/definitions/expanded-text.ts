import { AppError } from '../../../../../core/app-error.ts';
import type { TextPiece } from '../../../../../core/sql.ts';

/** A piece of a text in which definitions stand in the place of their names. */
export interface Segment {
  readonly text: string;
  /** Where it stood in the text before; of what a definition says, where its name stood. */
  readonly at: number;
  readonly isOurs: boolean;
  /** It is a parameter of the macro that is being made: its number. */
  readonly parameter?: number | undefined;
}

/** As long as a statement may be. */
const longest = 1_048_576;

/** Collects segments, as many as a statement may have. */
export class ExpandedText {
  readonly segments: Segment[] = [];
  #length = 0;

  ours(text: string, at: number): this {
    return this.add([{ text, at, isOurs: true }]);
  }

  callers(sql: string, from: number, to: number): this {
    return from < to ? this.add([{ text: sql.slice(from, to), at: from, isOurs: false }]) : this;
  }

  add(segments: readonly Segment[]): this {
    for (const segment of segments) {
      this.#length += segment.text.length;
      if (this.#length > longest) throw tooLong(segment.at);
      this.segments.push(segment);
    }
    return this;
  }

  get sql(): string {
    return this.segments.map(({ text }) => text).join('');
  }

  /** Where they stood in the caller's text. */
  pieces(origin: (at: number) => number): TextPiece[] {
    const pieces: TextPiece[] = [];
    let built = 0;
    for (const { text, at, isOurs } of this.segments) {
      pieces.push({ built, written: origin(at), length: isOurs ? 0 : text.length });
      built += text.length;
    }
    return pieces;
  }
}

function tooLong(position: number): AppError {
  return new AppError('too_large', 'the statement is larger than 1 MiB with the macros that it uses', {
    hint: 'keep rows in between as a frame: CREATE TABLE x AS …',
    position,
  });
}
