import { type Batch, fixedSizeBytes, type Vector, vectorPart } from '@framehold/columns';
import type { Connection } from '@framehold/duckdb';
import { Checksum } from '../../../../core/rows/checksum.ts';
import { queryReadable } from './parquet-relation.ts';

/** Whether two relations have the same rows in the same order, bit for bit. */
export async function haveSameValues(
  connection: Connection,
  [one, other]: readonly [string, string],
  signal: AbortSignal,
): Promise<boolean> {
  return (await digestOf(connection, one, signal)) === (await digestOf(connection, other, signal));
}

async function digestOf(connection: Connection, relation: string, signal: AbortSignal): Promise<string> {
  await using rows = await queryReadable(connection, relation);
  const digest = new ValueDigest();
  for await (const batch of rows.batches()) {
    signal.throwIfAborted();
    digest.add(batch);
  }
  return digest.end();
}

/** Rows [from, to) of a vector. */
type Runs = readonly (readonly [from: number, to: number])[];

const stagedBytes = 4096;

/** What is told of the values of a column, or of values inside it, whatever batches they come in. */
class LeafDigest {
  readonly #sum = new Checksum();
  readonly #staged = Buffer.allocUnsafe(stagedBytes);
  #length = 0;
  #rows = 0;

  get rows(): number {
    return this.#rows;
  }

  count(rows: number): void {
    this.#rows += rows;
  }

  bytes(bytes: Uint8Array): void {
    if (this.#length + bytes.length > stagedBytes) this.#flush();
    if (bytes.length > stagedBytes) this.#sum.update(bytes);
    else {
      this.#staged.set(bytes, this.#length);
      this.#length += bytes.length;
    }
  }

  number(value: number): void {
    if (this.#length + 8 > stagedBytes) this.#flush();
    this.#length = this.#staged.writeDoubleLE(value, this.#length);
  }

  end(): string {
    this.#flush();
    return `${this.#rows}:${this.#sum.digest()}`;
  }

  #flush(): void {
    this.#sum.update(this.#staged.subarray(0, this.#length));
    this.#length = 0;
  }
}

/** What lies under a NULL does not count. */
class ValueDigest {
  /** By the position of the column and of the values inside it. Validity, lengths and bytes each have their own. */
  readonly #leaves = new Map<string, LeafDigest>();

  add({ vectors, rows }: Batch): void {
    for (const [index, vector] of vectors.entries()) this.#add(vector, [[0, rows]], String(index));
  }

  end(): string {
    return [...this.#leaves].map(([path, leaf]) => `${path}=${leaf.end()}`).join(' ');
  }

  #add(vector: Vector, shown: Runs, path: string): void {
    const present = this.#present(vector, shown, `${path}.valid`);
    const { type, children } = vector;
    switch (type.kind) {
      case 'null':
        return;
      case 'boolean':
        this.#addBits(vectorPart(vector.data), present, path);
        return;
      case 'utf8':
      case 'json':
      case 'uuid':
      case 'binary': {
        const bytes = vectorPart(vector.data);
        const leaf = this.#leaf(path);
        for (const [from, to] of this.#lengths(vector, present, path)) leaf.bytes(bytes.subarray(from, to));
        return;
      }
      case 'list':
      case 'map':
        this.#add(vectorPart(children[0]), this.#lengths(vector, present, path), `${path}.0`);
        return;
      case 'array': {
        const items = present.map(([from, to]) => [from * type.size, to * type.size] as const);
        this.#add(vectorPart(children[0]), items, `${path}.0`);
        return;
      }
      case 'struct':
        for (const [index, child] of children.entries()) this.#add(child, present, `${path}.${index}`);
        return;
      case 'union':
        this.#addFixed(vectorPart(vector.data), 1, present, path);
        for (const [index, child] of children.entries()) this.#add(child, present, `${path}.${index}`);
        return;
      default:
        this.#addFixed(vectorPart(vector.data), fixedSizeBytes(type), present, path);
    }
  }

  /** The rows that are no NULL, in runs. */
  #present({ validity }: Vector, shown: Runs, path: string): Runs {
    const leaf = this.#leaf(path);
    const runs: [number, number][] = [];
    for (const [from, to] of shown) {
      const before = leaf.rows - from;
      leaf.count(to - from);
      if (validity === null) {
        runs.push([from, to]);
        continue;
      }
      let begin = from;
      for (let row = from; row < to; row++) {
        if (((validity[row >> 3] as number) >> (row & 7)) & 1) continue;
        leaf.number(before + row);
        if (begin < row) runs.push([begin, row]);
        begin = row + 1;
      }
      if (begin < to) runs.push([begin, to]);
    }
    return runs;
  }

  /** Notes how long each value is, and gives where those of each run lie. */
  #lengths(vector: Vector, present: Runs, path: string): Runs {
    const offsets = vectorPart(vector.offsets);
    const leaf = this.#leaf(`${path}.length`);
    return present.map(([from, to]) => {
      for (let row = from; row < to; row++) leaf.number((offsets[row + 1] as number) - (offsets[row] as number));
      return [offsets[from] as number, offsets[to] as number] as const;
    });
  }

  #addFixed(data: Uint8Array, width: number, present: Runs, path: string): void {
    const leaf = this.#leaf(path);
    for (const [from, to] of present) leaf.bytes(data.subarray(from * width, to * width));
  }

  #addBits(data: Uint8Array, present: Runs, path: string): void {
    const leaf = this.#leaf(path);
    for (const [from, to] of present) {
      const bits = new Uint8Array(to - from);
      for (let row = from; row < to; row++) bits[row - from] = ((data[row >> 3] as number) >> (row & 7)) & 1;
      leaf.bytes(bits);
    }
  }

  #leaf(path: string): LeafDigest {
    const leaf = this.#leaves.get(path) ?? new LeafDigest();
    this.#leaves.set(path, leaf);
    return leaf;
  }
}
