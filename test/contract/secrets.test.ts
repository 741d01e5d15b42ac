import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { generateToken } from '../../src/auth/token.ts';
import { TestIssuer } from '../support/issuer.ts';
import { assertNoSecretFiles, secretsIn } from '../support/secrets.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

test('the scan of logs and files that every test makes finds tokens, JWTs and keys, and nothing else', async () => {
  const token = generateToken();
  const issuer = await TestIssuer.start();
  const jwt = await issuer.sign();
  issuer.stop();
  const key = '-----BEGIN PRIVATE KEY-----';
  for (const secret of [token, jwt, key]) {
    expect(secretsIn(`{"error":"x ${secret} y"}`)).toHaveLength(1);
    await using directory = await temporaryDirectory();
    await writeFile(join(directory.path, 'left-over'), secret);
    expect(() => assertNoSecretFiles(directory.path)).toThrow('shows a secret');
  }
  expect(secretsIn(`fh_ ${token.slice(0, -1)} ${token.slice(0, 12)} eyJhbGciOiJFUzI1NiJ9`)).toEqual([]);
});
