import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { type SmallDisk, smallDisk } from '../faults/disk/small-disk.ts';
import { type Framehold, startFramehold } from '../support/framehold.ts';
import { healthClient } from '../support/grpc-client.ts';
import { ask } from '../support/http-client.ts';
import { leftOutWithoutMount } from '../support/left-out.ts';

/** What monitors and balancers see. */
async function shown({ url }: Framehold) {
  const [reads, writes, metrics] = await Promise.all(
    ['/readyz', '/readyz?for=writes', '/metrics'].map((path) => ask(`${url}${path}`)),
  );
  return {
    reads: reads?.text,
    writes: writes?.text,
    status: writes?.status,
    writable: /^framehold_storage_writable (\d)$/m.exec(metrics?.text ?? '')?.[1],
    ready: /^framehold_ready (\d)$/m.exec(metrics?.text ?? '')?.[1],
  };
}

async function healthOf({ grpcAddress }: Framehold, service: string): Promise<unknown> {
  const client = healthClient(grpcAddress.port);
  const check = promisify(client.Check?.bind(client) as (request: object, done: () => void) => void);
  const answer = (await check({ service })) as unknown as { readonly status: string };
  client.close();
  return answer.status;
}

const sound = { reads: 'ok', writes: 'ok', status: 200, writable: '1', ready: '1' };
const unwritable = (writes: string) => ({ reads: 'ok', writes, status: 503, writable: '0', ready: '1' });
const within = { timeout: 5000, interval: 50 };

const put = async ({ url }: Framehold, name: string): Promise<number> =>
  (await ask(`${url}/imp?name=${name}`, { method: 'POST', body: 'a\n1\n' })).status;

describe.skipIf(leftOutWithoutMount())('whether frames can be written is shown within five seconds', () => {
  const begin = async (disk: SmallDisk): Promise<Framehold> => startFramehold({ dataDir: disk.path });

  test('while the server runs: on a disk that becomes read-only, full, and writable again', {
    timeout: 60_000,
  }, async () => {
    await using disk = await smallDisk({ bytes: 32 * 2 ** 20 });
    await using server = await begin(disk);
    expect(await shown(server)).toEqual(sound);
    expect(await put(server, 'one')).toBe(200);
    disk.remount('ro');
    await expect.poll(() => shown(server), within).toEqual(unwritable('storage_read_only'));
    expect((await ask(`${server.url}/exp?handle=one`)).text).toBe('a\r\n1\r\n');
    disk.remount('rw');
    await expect.poll(() => shown(server), within).toEqual(sound);
    // What the server removes meanwhile makes room again.
    const filled = async () => {
      if ((await disk.freeBytes()) > 0) await disk.leave(0);
      return shown(server);
    };
    await expect.poll(filled, within).toEqual(unwritable('storage_full'));
    disk.makeRoom();
    await expect.poll(() => shown(server), within).toEqual(sound);
    expect(await put(server, 'two')).toBe(200);
    expect(server.log().match(/cannot be written|can be written again/g)).toHaveLength(4);
  });

  test('from the start on, over gRPC as well', { timeout: 60_000 }, async () => {
    await using disk = await smallDisk({ bytes: 32 * 2 ** 20 });
    {
      await using server = await begin(disk);
      expect(await put(server, 'one')).toBe(200);
    }
    disk.remount('ro');
    await using server = await begin(disk);
    expect(await shown(server)).toEqual(unwritable('storage_read_only'));
    expect(await healthOf(server, '')).toBe('SERVING');
    expect(await healthOf(server, 'framehold.writes')).toBe('NOT_SERVING');
    disk.remount('rw');
    await expect.poll(() => shown(server), within).toEqual(sound);
    expect(await healthOf(server, 'framehold.writes')).toBe('SERVING');
    expect((await ask(`${server.url}/readyz?for=fun`)).status).toBe(400);
  });
});
