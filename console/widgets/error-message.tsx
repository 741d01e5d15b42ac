import { messageOf } from '../api/api-error.ts';
import { RevealedText } from './revealed-text.tsx';

/** Nothing where there is no error. */
export function ErrorMessage({ error }: { readonly error: unknown }) {
  if (error === undefined) return null;
  return (
    <p class="error" role="alert">
      <RevealedText text={messageOf(error)} />
    </p>
  );
}
