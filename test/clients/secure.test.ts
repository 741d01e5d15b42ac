import { pythonSuite } from './support/python-suite.ts';
import { startSecureServer } from './support/secure-server.ts';

await pythonSuite('Python clients with TLS and tokens', 'secure_cases', async () => {
  const server = await startSecureServer();
  return { ...server, more: [server.folder] };
});
