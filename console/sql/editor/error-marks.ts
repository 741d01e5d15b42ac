import { RangeSet, StateEffect, StateField, type Text } from '@codemirror/state';
import { Decoration, EditorView, GutterMarker, gutter } from '@codemirror/view';

export interface EditorError {
  /** Position in the text. */
  readonly at: number;
  readonly message: string;
}

interface ErrorMark {
  readonly from: number;
  readonly to: number;
  /** The marked text. */
  readonly text: string;
  readonly message: string;
}

/** Replaces the present marks. */
export const setErrors = StateEffect.define<readonly EditorError[]>();

const marks = StateField.define<readonly ErrorMark[]>({
  create: () => [],
  update(known, { changes, effects, newDoc, docChanged }) {
    const set = effects.findLast((effect) => effect.is(setErrors));
    if (set !== undefined) return (set.value as readonly EditorError[]).map((error) => markOf(newDoc, error));
    if (!docChanged || known.length === 0) return known;
    // A mark goes with its word, and is gone with it.
    return known.flatMap((mark) => {
      const moved = markOf(newDoc, { at: changes.mapPos(mark.from, 1), message: mark.message });
      return changes.mapPos(mark.to, -1) === moved.to && moved.text === mark.text ? [moved] : [];
    });
  },
  provide: (field) =>
    EditorView.decorations.from(field, (all) =>
      Decoration.set(
        all
          .filter(({ from, to }) => to > from)
          .map(({ from, to, message }) =>
            Decoration.mark({ class: 'cm-error-mark', attributes: { title: message } }).range(from, to),
          ),
        true,
      ),
    ),
});

class LineMarker extends GutterMarker {
  override elementClass = 'cm-error-line';
}
const lineMarker = new LineMarker();

/** Wavy lines below errors, and a dot before their lines. */
export const errorMarks = [
  marks,
  gutter({
    class: 'cm-error-gutter',
    markers: ({ state }) =>
      RangeSet.of(
        state.field(marks).map(({ from }) => lineMarker.range(state.doc.lineAt(from).from)),
        true,
      ),
  }),
];

/** The word at a place of the text, or the character before its end. */
function markOf(doc: Text, { at, message }: EditorError): ErrorMark {
  const start = Math.max(0, Math.min(at, doc.length));
  const word = /^[\p{L}\d_$]+|^./u.exec(doc.sliceString(start, start + 200))?.[0] ?? '';
  const [from, to] = word === '' ? [Math.max(0, start - 1), start] : [start, start + word.length];
  return { from, to, text: doc.sliceString(from, to), message };
}
