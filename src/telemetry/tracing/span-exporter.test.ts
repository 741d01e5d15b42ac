import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test, vi } from 'vitest';
import { silentLogger } from '../../core/logs/logger.ts';
import { SpanExporter } from './span-exporter.ts';

const span = {
  ...{ traceId: '0af7651916cd43dd8448eb211c80319c', spanId: 'b7ad6b7169203331', parentSpanId: undefined },
  ...{ name: 'GET /exec', kind: 2, beganMs: 0, endedMs: 1, attributes: {}, errorType: undefined },
};

test('a collector that never answers is given up in time, also where garbage is collected meanwhile', async () => {
  setFlagsFromString('--expose-gc');
  const collectGarbage = runInNewContext('gc') as () => void;
  const sockets: Socket[] = [];
  const silent = createServer((socket) => sockets.push(socket)).listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const warn = vi.fn();
  const exporter = new SpanExporter({
    url: `http://127.0.0.1:${(silent.address() as AddressInfo).port}/v1/traces`,
    headers: {},
    resource: {},
    version: '0',
    logger: { ...silentLogger, warn },
    timeoutMs: 500,
  });
  for (let n = 0; n < 512; n++) exporter.add(span);
  const collecting = setInterval(collectGarbage, 50);
  await expect.poll(() => warn.mock.calls).toMatchObject([['the collector of traces does not take spans', {}]]);
  clearInterval(collecting);
  await exporter.close(0);
  for (const socket of sockets) socket.destroy();
  silent.close();
});
