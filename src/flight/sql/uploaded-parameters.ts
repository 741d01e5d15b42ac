import { AppError } from '../../core/app-error.ts';
import type { FlightUpload } from '../flight-sql-port.ts';

/** Parameters of one execution, or of one executemany, are held in memory. */
const maxParameterBytes = 16 * 2 ** 20;

/** The parameters of a statement as an Arrow IPC stream. Undefined when it has no columns: that is how drivers bind nothing. */
export async function uploadedParameters(upload: FlightUpload): Promise<Uint8Array | undefined> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of upload.ipcStream()) {
    bytes += chunk.length;
    if (bytes > maxParameterBytes) {
      throw new AppError('too_large', `the parameters are over the limit of ${maxParameterBytes} bytes`, {
        hint: 'bind fewer rows at once, or load the rows as a table (adbc_ingest, DoPut)',
      });
    }
    // A piece of a few bytes may keep all alive that came with it.
    chunks.push(Buffer.from(chunk));
  }
  return upload.counts.columns === 0 ? undefined : Buffer.concat(chunks);
}
