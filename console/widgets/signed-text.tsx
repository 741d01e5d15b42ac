import { textParts } from './hidden-characters.ts';

/**
 * A text of others, with signs at characters that are not seen or turn the text around. What is copied from the page is the text
 * itself: the characters are there, each alone, and the signs are not part of it.
 */
export function SignedText({ text }: { readonly text: string }) {
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
