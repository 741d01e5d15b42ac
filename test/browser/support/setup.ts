import { chromium } from 'playwright-core';
import type { TestProject } from 'vitest/node';
import { Cleanup } from '../../../src/core/async/cleanup.ts';
import { needed } from '../../support/missing.ts';
import { spawnFramehold } from '../../support/spawned-framehold.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { chromiumOptions } from './chromium.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Where the one browser is reached; undefined where these tests are left out. */
    browserEndpoint: string | undefined;
    /** Why they fail instead. */
    browserFailure: string | undefined;
    /** A server with the demo frames, which no test changes. */
    demoUrl: string;
  }
}

/** Starts the browser and the server that all files share. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const cleanup = new Cleanup();
  try {
    const browser = await needed('the console in a browser', async () =>
      chromium.launchServer({ ...(await chromiumOptions()), host: '127.0.0.1' }),
    );
    project.provide('browserFailure', undefined);
    project.provide('browserEndpoint', browser?.wsEndpoint());
    project.provide('demoUrl', '');
    if (browser === undefined) return async () => {};
    cleanup.defer(() => browser.close());
    const directory = cleanup.use(await temporaryDirectory());
    const server = cleanup.use(await spawnFramehold({ dataDir: directory.path, flags: ['--demo'] }));
    project.provide('demoUrl', server.url);
  } catch (error) {
    // A failure of this function would end the tests of all projects.
    project.provide('browserFailure', error instanceof Error ? error.message : String(error));
  }
  return () => cleanup[Symbol.asyncDispose]();
}
