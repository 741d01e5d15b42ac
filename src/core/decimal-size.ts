const mostDigits = 38;

/** Whether there are decimals of so many digits, of which so many stand behind the point. */
export function isDecimalSize({ precision, scale }: { readonly precision: number; readonly scale: number }): boolean {
  return precision >= 1 && precision <= mostDigits && scale >= 0 && scale <= precision;
}
