import { textParts } from './hidden-characters.ts';

/**
 * A text of others, with signs at characters that are invisible or turn the text around. Copies from the page have the text
 * itself: the characters are there, each alone, and the signs are not part of it.
 */
export function RevealedText({ text }: { readonly text: string }) {
  const parts = textParts(text);
  if (parts.length === 1 && parts[0]?.sign === undefined) return <>{text}</>;
  return (
    <>
      {parts.map(({ text: each, sign }, index) =>
        sign === undefined ? (
          each
        ) : (
          <bdi key={index} class="hidden-character" data-sign={sign}>
            {each}
          </bdi>
        ),
      )}
    </>
  );
}
