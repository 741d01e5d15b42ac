/** Below this, fresh memory costs nothing. */
const leastBytes = 4096;
/** All memory that is used again can be looked at as numbers of any size. */
const unitBytes = 64;
const mostSpareBytes = 16 * 1024 * 1024;
/** Bytes that are kept for long must not be much smaller than the memory that they hold. */
const mostExcess = 1.25;

const spare: ArrayBuffer[] = [];
let spareBytes = 0;
/** Memory that was taken here and not given back. */
const taken = new WeakSet<ArrayBufferLike>();

/**
 * Memory of at least `bytes` bytes, with any content. Where streams take a megabyte for each message, fresh memory costs more
 * than the rows do: in page faults, and in garbage collections that the system starts for every 64 MiB.
 */
export function takeMemory(bytes: number): ArrayBuffer {
  for (let index = spare.length - 1; index >= 0; index--) {
    const memory = spare[index] as ArrayBuffer;
    if (memory.byteLength < bytes || memory.byteLength > bytes * mostExcess) continue;
    spare.splice(index, 1);
    spareBytes -= memory.byteLength;
    taken.add(memory);
    return memory;
  }
  const isReused = bytes >= leastBytes;
  // Not zeroed, and not of Buffer's pool.
  const { buffer } = Buffer.allocUnsafeSlow(isReused ? Math.ceil(bytes / unitBytes) * unitBytes : bytes);
  if (isReused) taken.add(buffer);
  return buffer as ArrayBuffer;
}

/** Gives memory to the next `takeMemory`. These bytes must not be used any more; memory from elsewhere is left alone. */
export function giveMemory({ buffer }: Uint8Array): void {
  if (!taken.delete(buffer)) return;
  spare.push(buffer as ArrayBuffer);
  spareBytes += buffer.byteLength;
  while (spareBytes > mostSpareBytes) spareBytes -= spare.shift()?.byteLength ?? 0;
}
