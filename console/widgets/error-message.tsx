import { messageOf } from '../api/api-error.ts';

/** Nothing where there is no error. */
export function ErrorMessage({ error }: { readonly error: unknown }) {
  if (error === undefined) return null;
  return (
    <p class="error" role="alert">
      {messageOf(error)}
    </p>
  );
}
