/** A rival that cannot run on this machine; the message says why in one line. */
export class RivalUnavailable extends Error {}
