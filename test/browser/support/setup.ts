import type { LaunchOptions } from 'playwright-core';
import type { TestProject } from 'vitest/node';
import { Cleanup } from '../../../src/core/async/cleanup.ts';
import { needed } from '../../support/missing.ts';
import { spawnFramehold } from '../../support/spawned-framehold.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { chromiumOptions } from './chromium.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** How to launch one; undefined where these tests are left out. */
    browserOptions: LaunchOptions | undefined;
    /** Why they fail instead. */
    browserFailure: string | undefined;
    /** A server with the demo frames, which no test changes. */
    demoUrl: string;
  }
}

/** Finds the browser, and starts the server that all files share. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const cleanup = new Cleanup();
  try {
    const browserOptions = await needed('the console in a browser', chromiumOptions);
    project.provide('browserFailure', undefined);
    project.provide('browserOptions', browserOptions);
    project.provide('demoUrl', '');
    if (browserOptions === undefined) return async () => {};
    const directory = cleanup.use(await temporaryDirectory());
    const server = cleanup.use(await spawnFramehold({ dataDir: directory.path, flags: ['--demo'] }));
    project.provide('demoUrl', server.url);
  } catch (error) {
    // A failure of this function would end the tests of all projects.
    project.provide('browserFailure', error instanceof Error ? error.message : String(error));
  }
  return () => cleanup[Symbol.asyncDispose]();
}
