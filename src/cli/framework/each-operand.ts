import { ConnectionError, FrameholdError } from '#client/errors.ts';
import type { ClientContext } from './client-command.ts';
import { failureLine } from './command-failure.ts';

interface EachOperand {
  /** `dropped`, for operands that are left at a stop. */
  readonly undone: string;
  /** Gives the line that says so. */
  act(operand: string): Promise<string>;
}

/** Does the same to each, and goes on behind one that the server refuses. Resolves with the exit code. */
export async function forEachOperand(
  { environment, undone: note }: ClientContext,
  operands: readonly string[],
  { undone, act }: EachOperand,
): Promise<number> {
  let exitCode = 0;
  for (const [index, operand] of operands.entries()) {
    const rest = operands.slice(index);
    note(`${rest.join(', ')} ${rest.length === 1 ? 'was' : 'were'} not ${undone}`);
    try {
      environment.stdout.write(`${await act(operand)}\n`);
    } catch (error) {
      if (!(error instanceof FrameholdError) || error instanceof ConnectionError) throw error;
      environment.stderr.write(`framehold: ${failureLine(error)}\n`);
      exitCode = 1;
    }
  }
  return exitCode;
}
