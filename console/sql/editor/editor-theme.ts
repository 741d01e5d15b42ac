import { HighlightStyle, syntaxHighlighting } from '@codemirror/language';
import { EditorView } from '@codemirror/view';
import { tags } from '@lezer/highlight';

/** The colours are variables of the page, which reach into the shadow root and follow its theme. */
export const editorTheme = [
  EditorView.theme({
    '&': { height: '100%', color: 'var(--text)', backgroundColor: 'var(--surface)', fontSize: '13px' },
    '&.cm-focused': { outline: 'none' },
    '.cm-scroller': { fontFamily: 'var(--font-mono)', lineHeight: '1.55' },
    '.cm-content': { caretColor: 'var(--text)', padding: '8px 0' },
    '.cm-cursor, .cm-dropCursor': { borderLeftColor: 'var(--text)' },
    '.cm-gutters': {
      color: 'var(--text-muted)',
      backgroundColor: 'var(--surface-raised)',
      borderRight: '1px solid var(--border)',
    },
    '.cm-activeLine': { backgroundColor: 'color-mix(in srgb, var(--surface-hover) 60%, transparent)' },
    '.cm-activeLineGutter': { backgroundColor: 'var(--surface-hover)' },
    '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
      background: 'var(--surface-selected)',
    },
    '.cm-placeholder': { color: 'var(--text-muted)' },
    '&.cm-focused .cm-matchingBracket': {
      backgroundColor: 'var(--surface-selected)',
      outline: '1px solid var(--border-strong)',
    },
    '&.cm-focused .cm-nonmatchingBracket': { backgroundColor: 'transparent', color: 'var(--danger)' },
    '.cm-tooltip': {
      color: 'var(--text)',
      backgroundColor: 'var(--surface-raised)',
      border: '1px solid var(--border)',
      borderRadius: '6px',
      boxShadow: 'var(--shadow)',
      overflow: 'hidden',
    },
    '.cm-tooltip.cm-tooltip-autocomplete > ul': { fontFamily: 'var(--font-mono)', maxHeight: '16em' },
    '.cm-tooltip.cm-tooltip-autocomplete > ul > li': { display: 'flex', gap: '16px', padding: '2px 10px' },
    '.cm-tooltip-autocomplete ul li[aria-selected]': { color: 'var(--text)', background: 'var(--surface-selected)' },
    '.cm-completionDetail': { marginLeft: 'auto', color: 'var(--text-muted)', fontStyle: 'normal' },
    '.cm-is-frame .cm-completionLabel': { fontWeight: '600' },
    '.cm-is-keyword .cm-completionLabel': { color: 'var(--code-keyword)' },
    '.cm-is-function .cm-completionLabel': { color: 'var(--code-function)' },
    '.cm-is-type .cm-completionLabel': { color: 'var(--code-type)' },
    '.cm-specialChar': { color: 'var(--warning)', fontWeight: '700' },
    '.cm-error-mark': {
      textDecoration: 'underline wavy var(--danger)',
      textDecorationSkipInk: 'none',
    },
    '.cm-error-gutter': { width: '14px' },
    '.cm-error-line::before': {
      content: '""',
      display: 'block',
      width: '8px',
      height: '8px',
      margin: '6px 3px',
      borderRadius: '50%',
      backgroundColor: 'var(--danger)',
    },
  }),
  syntaxHighlighting(
    HighlightStyle.define([
      { tag: tags.keyword, color: 'var(--code-keyword)', fontWeight: '600' },
      { tag: [tags.typeName, tags.atom], color: 'var(--code-type)' },
      { tag: tags.standard(tags.variableName), color: 'var(--code-function)' },
      { tag: tags.string, color: 'var(--code-string)' },
      { tag: tags.number, color: 'var(--code-number)' },
      { tag: tags.comment, color: 'var(--text-muted)', fontStyle: 'italic' },
    ]),
  ),
];
