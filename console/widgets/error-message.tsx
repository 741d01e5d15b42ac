import { messageOf } from '../api/api-error.ts';
import { SignedText } from './signed-text.tsx';

/** Nothing where there is no error. */
export function ErrorMessage({ error }: { readonly error: unknown }) {
  if (error === undefined) return null;
  return (
    <p class="error" role="alert">
      <SignedText text={messageOf(error)} />
    </p>
  );
}
