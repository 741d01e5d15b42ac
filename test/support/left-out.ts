import { spawnSync } from 'node:child_process';

/**
 * Whether tests with this need are left out here, said in one line. Never under CI: there they run, and fail where the
 * need is not met.
 */
function leftOut(isMet: boolean, need: string): boolean {
  if (isMet || process.env.CI === 'true') return false;
  process.stderr.write(`skipped: these tests need ${need}\n`);
  return true;
}

export function leftOutWithoutMount(): boolean {
  return leftOut(process.platform === 'linux' && process.getuid?.() === 0, 'Linux and root, to mount a small disk');
}

export function leftOutWithoutStrace(): boolean {
  return leftOut(spawnSync('strace', ['-V']).status === 0, 'strace');
}
