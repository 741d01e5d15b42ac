import { ConnectFailure } from './connect-failure.ts';
import type { SparkSession } from './spark-session.ts';

const timeoutMs = 2000;
/** Spark cuts a message off at about this number of characters to fit it into a header. */
const cutOffLength = 1900;

/** The same failure with all that the server knows of it. */
export async function withDetails(thrown: unknown, session: SparkSession | undefined): Promise<unknown> {
  if (!(thrown instanceof ConnectFailure) || session === undefined) return thrown;
  const { errorId } = thrown.facts;
  if (errorId === undefined) return thrown;
  try {
    const { errors, rootErrorIndex = 0 } = await session.errorDetails(errorId, {
      signal: AbortSignal.timeout(timeoutMs),
    });
    const root = errors[rootErrorIndex];
    if (root === undefined) return thrown;
    // The fault itself may be the cause of "job aborted".
    const named = [root, ...errors].find(({ sparkThrowable }) => sparkThrowable?.errorClass !== undefined) ?? root;
    const { errorClass, sqlState, queryContexts = [] } = named.sparkThrowable ?? {};
    const place = queryContexts.find(({ contextType, fragment }) => contextType === 0 && fragment !== '');
    const isCutOff = thrown.message.length >= cutOffLength;
    return new ConnectFailure(thrown.status, isCutOff ? named.message : thrown.message, {
      ...thrown.facts,
      errorClass: thrown.facts.errorClass ?? errorClass,
      sqlState: thrown.facts.sqlState ?? sqlState,
      position: place?.startIndex,
      cause: thrown,
    });
  } catch {
    // The error at hand is enough for the caller.
    return thrown;
  }
}
