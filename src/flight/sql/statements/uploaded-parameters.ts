import { GrowingBytes } from '@framehold/columns';
import { AppError } from '../../../core/errors/app-error.ts';
import type { FlightUpload } from '../../data/flight-sql-port.ts';

/** Parameters of one execution, or of one executemany, are held in memory. */
const maxParameterBytes = 16 * 2 ** 20;

/** The parameters of a statement as an Arrow IPC stream. Undefined without columns: drivers send that to bind nothing. */
export async function uploadedParameters(upload: FlightUpload): Promise<Uint8Array | undefined> {
  // Copied: there may be a million pieces, and each may hold the memory of a larger buffer.
  const stream = new GrowingBytes();
  for await (const piece of upload.ipcStream()) {
    await upload.keep(piece.length);
    stream.append(piece, 0, piece.length);
    if (stream.length > maxParameterBytes) {
      throw new AppError('too_large', `the parameters are over the limit of ${maxParameterBytes} bytes`, {
        hint: 'bind fewer rows at once, or load the rows as a table (adbc_ingest, DoPut)',
      });
    }
  }
  const { length } = stream;
  return upload.counts.columns === 0 ? undefined : stream.take().subarray(0, length);
}
