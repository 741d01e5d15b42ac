type ViewConstructor<View> = {
  readonly BYTES_PER_ELEMENT: number;
  new (buffer: ArrayBufferLike, byteOffset: number, length: number): View;
};

/** The little-endian values in `data`, copied only if they are unaligned. */
export function typedView<View>(View: ViewConstructor<View>, data: Uint8Array | null): View {
  const bytes = data ?? new Uint8Array(0);
  const aligned = bytes.byteOffset % View.BYTES_PER_ELEMENT === 0 ? bytes : new Uint8Array(bytes);
  return new View(aligned.buffer, aligned.byteOffset, Math.floor(aligned.byteLength / View.BYTES_PER_ELEMENT));
}

/** Never a Buffer, for code that sees Buffers and Uint8Arrays by turns runs slower. */
export function plainBytes(data: Uint8Array | null): Uint8Array<ArrayBuffer> {
  return typedView(Uint8Array, data) as Uint8Array<ArrayBuffer>;
}

export function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
