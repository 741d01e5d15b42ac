import { AppError } from '../../core/app-error.ts';
import type { Exchange } from './route.ts';

const mostVersions = 2;

/** A file that is replaced from outside just as it is opened has a newer version, which serves as well. */
export async function retryReplaced(
  { response, headers }: Pick<Exchange, 'response' | 'headers'>,
  answer: () => Promise<void>,
): Promise<void> {
  const given = headers.length;
  for (let version = 1; ; version++) {
    try {
      return await answer();
    } catch (error) {
      const wasReplaced = error instanceof AppError && error.code === 'handle_gone' && !response.headersSent;
      if (!wasReplaced || version === mostVersions) throw error;
      headers.length = given;
    }
  }
}
