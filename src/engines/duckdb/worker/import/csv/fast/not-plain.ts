/** Something in a file is not as simple as the quick way needs it to be: the whole file goes the long way. No caller sees it. */
export class NotPlain extends Error {
  constructor(what: string) {
    super(what);
    this.name = 'NotPlain';
  }
}
