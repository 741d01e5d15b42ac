import { AppError } from '../../../core/errors/app-error.ts';
import { didYouMean } from '../../../core/text/did-you-mean.ts';
import { allowedFunctions, allowedTableFunctions } from './allowed-functions.ts';
import { refusalOf } from './refused-functions.ts';

/** Refuses a function in an expression that is not allowed. */
export function checkFunction(name: string, position: number): void {
  if (!allowedFunctions.has(name.toLowerCase())) throw refused(name.toLowerCase(), position, allowedFunctions);
}

/** Refuses a function in FROM that is not allowed. */
export function checkTableFunction(name: string, position: number): void {
  if (!allowedTableFunctions.has(name.toLowerCase()))
    throw refused(name.toLowerCase(), position, allowedTableFunctions);
}

function refused(name: string, position: number, allowed: ReadonlySet<string>): AppError {
  const shown = name.slice(0, 100);
  const refusal = refusalOf(name);
  if (refusal !== undefined) {
    const { reason, hint } = refusal;
    return new AppError('sql_forbidden', `function ${shown} is not allowed: ${reason}`, {
      position,
      hint,
    });
  }
  if (allowed === allowedTableFunctions && allowedFunctions.has(name)) {
    return new AppError('sql_error', `function ${shown} gives no table`, {
      hint: `use it in SELECT ${shown}(…)`,
      position,
    });
  }
  return new AppError(
    'sql_error',
    `function ${shown} does not exist on a cluster engine${didYouMean(shown, allowed)}`,
    {
      position,
    },
  );
}
