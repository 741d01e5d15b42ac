import { AppError } from '../../core/errors/app-error.ts';

const ofAccess = /^\/(?:tokens|tenants|handles\/[^/]+\/shares)(?:\/|$)/;

/** The answer without a route. */
export function nothingAt(path: string, answered: readonly string[]): AppError {
  if (ofAccess.test(path) && answered.includes('/handles') && !answered.includes('/tokens')) {
    return new AppError('not_found', 'tokens, tenants and shares need authentication, which is off here', {
      hint: 'the operator turns it on: auth.enabled',
    });
  }
  return new AppError('not_found', `there is nothing at ${path.slice(0, 200)}`, {
    hint: `this server answers ${answered.join(', ')}`,
  });
}
