/** Passes the gate, needs no frame, little memory, and goes on for hours; unique, so that nothing is remembered of it. */
export function endlessSql(n: number): string {
  return `select count(*) as n from range(1_000_000_000) a, range(1_000_000) b where (a.range * b.range) % 7 = ${n}`;
}
