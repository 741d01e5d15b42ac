import { AppError } from '../../../../../core/errors/app-error.ts';
import { type Segment, SourceText } from '../../../../../core/text/source-text.ts';

/** As long as a statement may be. */
const longest = 1_048_576;

/** A text in which definitions stand in the place of their names: no longer than a statement may be. */
export class ExpandedText extends SourceText {
  override add(segments: readonly Segment[]): this {
    for (const segment of segments) {
      if (this.length + segment.text.length > longest) throw tooLong(segment.at);
      super.add([segment]);
    }
    return this;
  }
}

function tooLong(position: number | undefined): AppError {
  return new AppError('too_large', 'the statement is larger than 1 MiB with the macros that it uses', {
    hint: 'keep rows in between as a frame: CREATE TABLE x AS …',
    position,
  });
}
