/** Lower case as engines compare names: of A to Z only (in JavaScript also K, the Kelvin sign, becomes k). */
export function asciiLower(text: string): string {
  if (!/[\u0080-\uffff]/.test(text)) return text.toLowerCase();
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

/** Whether engines take both for the same name. */
export function isSameName(a: string, b: string): boolean {
  return asciiLower(a) === asciiLower(b);
}
