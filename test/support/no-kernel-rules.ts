/** In the place of `restrict-files.ts`, as on a kernel without Landlock. */
export function restrictFiles(): boolean {
  return false;
}

export function landlockVersion(): number {
  return 0;
}
