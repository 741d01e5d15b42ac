import { ask } from '../../support/http-client.ts';
import type { Address } from '../harness/doors.ts';
import { promised } from '../harness/scenario.ts';

/** The frame `large`, of so many bytes when it is sent: numbers and texts that no encoding makes much smaller. */
export async function putLarge({ url }: Pick<Address, 'url'>, bytes: number): Promise<void> {
  const rows = Math.ceil(bytes / 100);
  const sql = `select range as id, repeat('x', 84) || (range % 10)::varchar as text from range(${rows})`;
  const answer = await ask(`${url}/sql`, { method: 'POST', body: JSON.stringify({ sql, keep: { handle: 'large' } }) });
  promised(answer.status === 200, 'a large frame is put', answer.text);
}
