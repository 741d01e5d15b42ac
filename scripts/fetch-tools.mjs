/**
 * Fetches what tests need and this machine does not have, while the first tests run. Quiet: a test that needs something
 * waits for it (`test/support/cached.ts`), and is the one to say that it cannot be fetched.
 */

import { chromiumOptions } from '../test/browser/support/chromium.ts';
import { javaCases } from '../test/clients/support/jdbc-driver.ts';
import { nodeClient } from '../test/clients/support/node-client.ts';
import { python } from '../test/clients/support/python.ts';
import { otherTools, packageTools } from '../test/clients/support/python-package.ts';
import { tpchFolder } from '../test/cluster/support/tpch.ts';
import { installLayers } from '../test/deploy/image.ts';
import { prometheusFolder } from '../test/deploy/prometheus.ts';
import { systemdEnvironment } from '../test/deploy/systemd-manager.ts';
import { validators } from '../test/deploy/validators.ts';
import { nodeBinary } from '../test/support/node-binary.ts';
import { questdbJar } from '../test/support/questdb-jar.ts';

await Promise.allSettled([
  questdbJar(),
  tpchFolder(0.1),
  python(),
  packageTools(),
  otherTools('3.10'),
  otherTools('3.13'),
  javaCases({ withTools: true }),
  nodeClient(),
  chromiumOptions(),
  prometheusFolder(),
  systemdEnvironment(),
  validators(),
  nodeBinary(24).then(installLayers),
]);
