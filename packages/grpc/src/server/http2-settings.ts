import type { ServerOptions } from 'node:http2';

/**
 * Measured: with HTTP/2's own 64 KiB, large uploads take up to twice the time; with more than this no less on a fast network.
 * Bytes of a client in this window are in uncounted memory.
 */
export const windowBytes = 2 * 1024 * 1024;
/** With HTTP/2's own 16 KiB an upload has four times as many pieces, and takes a tenth more of the server's time. */
const frameBytes = 256 * 1024;

/** Limits that newer versions of Node know, and Node 20's types do not; nghttp2 has the same as defaults. */
const resetLimits: object = { streamResetBurst: 1000, streamResetRate: 33 };

export const http2Options: ServerOptions = {
  settings: {
    initialWindowSize: windowBytes,
    maxFrameSize: frameBytes,
    maxConcurrentStreams: 100,
    // JDBC sends its URL's parameters with each call; some drivers send tokens of tens of kilobytes.
    maxHeaderListSize: 96 * 1024,
    enablePush: false,
  },
  maxHeaderListPairs: 100,
  maxOutstandingPings: 10,
  maxSettings: 16,
  maxSessionInvalidFrames: 100,
  maxSessionRejectedStreams: 100,
  /** Megabytes. Above it new streams are refused; room for many downloads of large messages on one connection. */
  maxSessionMemory: 256,
  ...resetLimits,
};
