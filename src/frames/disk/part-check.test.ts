import { describe, expect, test } from 'vitest';
import { PartCheck } from './part-check.ts';

const at = (changedNs: bigint) => async () => changedNs;
const nothing = async (): Promise<void> => {};
const written = { checksum: 'of what was written' };

describe('the check of a part', () => {
  test('holds as long as only we change the inode', async () => {
    const check = new PartCheck(written, { passed: true });
    await check.note(at(1n));
    await check.through(at(1n), nothing, at(2n));
    expect([check.passed, check.isAsKnown(2n)]).toEqual([true, true]);
  });

  test('is made again where somebody else changed it, also right before we did', async () => {
    const check = new PartCheck(written, { passed: true });
    await check.note(at(1n));
    await check.through(at(5n), nothing, at(6n));
    expect(check.isAsKnown(6n)).toBe(false);
    await check.renew(at(6n), async () => true);
    expect([check.passed, check.isAsKnown(6n)]).toEqual([true, true]);
    await check.renew(at(7n), async () => false);
    expect(check.passed).toBe(false);
  });

  test('is made once for all who ask meanwhile', async () => {
    const check = new PartCheck(written, { passed: true });
    let looks = 0;
    const look = async (): Promise<boolean> => ++looks > 0;
    await Promise.all([check.renew(at(3n), look), check.renew(at(3n), look)]);
    expect(looks).toBe(1);
  });

  test('of a file from outside has nothing to find out', () => {
    const check = new PartCheck({ checksum: null });
    expect([check.passed, check.isAsKnown(9n)]).toEqual([true, true]);
  });
});
