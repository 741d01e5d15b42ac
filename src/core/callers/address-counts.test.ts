import { afterEach, describe, expect, it } from 'vitest';
import { AddressCounts, networkOf } from './address-counts.ts';

const made: AddressCounts[] = [];
afterEach(() => {
  for (const counts of made.splice(0)) counts[Symbol.dispose]();
});

function counting(maxAddresses?: number) {
  const clock = { ms: 0 };
  const sums: [string, number][] = [];
  const counts = new AddressCounts({
    single: 10,
    onSum: (network, beyond) => sums.push([network, beyond]),
    now: () => clock.ms,
    ...(maxAddresses !== undefined && { maxAddresses }),
  });
  made.push(counts);
  return { clock, sums, counts };
}

const times = (count: number, act: () => boolean): boolean[] => Array.from({ length: count }, act);

describe('AddressCounts', () => {
  it('lets ten of an address and minute pass, and sums the others once', () => {
    const { clock, sums, counts } = counting();
    expect(times(25, () => counts.add('10.0.0.1')).filter(Boolean)).toHaveLength(10);
    clock.ms = 59_999;
    counts.sweep();
    expect(sums).toEqual([]);
    clock.ms = 60_000;
    counts.sweep();
    counts.sweep();
    expect(sums).toEqual([['10.0.0.1', 15]]);
  });

  it('begins anew after the minute, also where nobody swept', () => {
    const { clock, counts } = counting();
    times(11, () => counts.add('10.0.0.1'));
    expect(counts.add('10.0.0.1')).toBe(false);
    clock.ms = 60_000;
    expect(counts.add('10.0.0.1')).toBe(true);
  });

  it('counts each address alone', () => {
    const { counts } = counting();
    times(11, () => counts.add('10.0.0.1'));
    expect(counts.add('10.0.0.2')).toBe(true);
  });

  it('tells how long an address has to wait', () => {
    const { clock, counts } = counting();
    counts.add('10.0.0.1');
    clock.ms = 12_500;
    expect([counts.secondsLeft('10.0.0.1'), counts.secondsLeft('10.0.0.2')]).toEqual([48, 0]);
  });

  it('remembers a bounded number of addresses, and sums all others together', () => {
    const { clock, sums, counts } = counting(100);
    for (let n = 0; n < 100_000; n++) counts.add(`10.${n >> 16}.${(n >> 8) & 255}.${n & 255}`);
    expect(counts.size).toBe(100);
    clock.ms = 60_000;
    counts.sweep();
    expect(sums).toEqual([['others', 99_900]]);
    expect(counts.size).toBe(0);
  });
});

it.each([
  ['10.1.2.3', '10.1.2.3'],
  ['::ffff:10.1.2.3', '10.1.2.3'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:0DB8:0001:0002::1', '2001:db8:1:2::/64'],
  ['2001:db8::1', '2001:db8:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['', ''],
])('the network of %s is %s', (address, network) => {
  expect(networkOf(address)).toBe(network);
});
