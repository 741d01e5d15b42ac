import { childTypes, type DataType, fixedSizeBytes, type Vector } from '@framehold/columns';

/** A column without a value. All of one batch share their memory: a line names few of a wide frame's columns. */
export class NullVectors {
  readonly #rows: number;
  #zeros = new Uint8Array(0);

  constructor(rows: number) {
    this.#rows = rows;
  }

  of(type: DataType): Vector {
    return this.#vector(type, this.#rows);
  }

  #vector(type: DataType, length: number): Vector {
    const validity = this.#bytes((length + 7) >> 3);
    const parts = { type, length, validity, offsets: null, data: null, children: [] };
    switch (type.kind) {
      case 'null':
        return parts;
      case 'boolean':
        return { ...parts, data: validity };
      case 'int':
      case 'float':
      case 'decimal':
      case 'date':
      case 'time':
      case 'timestamp':
      case 'interval':
        return { ...parts, data: this.#bytes(length * fixedSizeBytes(type)) };
      case 'utf8':
      case 'json':
      case 'uuid':
      case 'binary':
        return { ...parts, offsets: this.#offsets(length), data: this.#bytes(0) };
      case 'list':
      case 'map':
        return { ...parts, offsets: this.#offsets(length), children: this.#children(type, 0) };
      case 'array':
        return { ...parts, children: this.#children(type, length * type.size) };
      case 'struct':
        return { ...parts, children: this.#children(type, length) };
      case 'union':
        return { ...parts, data: this.#bytes(length), children: this.#children(type, length) };
      default:
        return type satisfies never;
    }
  }

  #children(type: DataType, length: number): readonly Vector[] {
    return childTypes(type).map((child) => this.#vector(child, length));
  }

  #offsets(length: number): Int32Array {
    const bytes = this.#bytes((length + 1) * 4);
    return new Int32Array(bytes.buffer, 0, length + 1);
  }

  #bytes(count: number): Uint8Array<ArrayBuffer> {
    if (count > this.#zeros.length) this.#zeros = new Uint8Array(count);
    return this.#zeros.subarray(0, count);
  }
}
