import { isAbsolute, relative, resolve, sep } from 'node:path';
import type { Flavour } from '@framehold/spark-connect';
import { AppError } from '../../core/errors/app-error.ts';

/** Our cold directory as the cluster sees it. */
export class PathMap {
  readonly #coldDirectory: string;
  readonly #root: string;

  /** `root`: a path or URI. Undefined: the cluster has the directory at the same path. */
  constructor(coldDirectory: string, root: string | undefined) {
    this.#coldDirectory = resolve(coldDirectory);
    this.#root = (root ?? this.#coldDirectory).replace(/\/+$/, '');
  }

  /** A path of ours as the cluster names it, for reading or writing. */
  toCluster(path: string, flavour: Flavour, use: 'read' | 'write'): string {
    const name = this.#toCluster(path);
    if (flavour === 'sail') return sailUri(name);
    // Spark reads patterns, and writes to plain paths.
    return use === 'read' ? name.replaceAll(/[\\*?[\]{}]/g, '\\$&') : name;
  }

  #toCluster(path: string): string {
    const inside = relative(this.#coldDirectory, resolve(path));
    if (inside === '' || inside.startsWith('..') || isAbsolute(inside)) {
      throw new AppError('internal', 'internal error', { cause: new Error('a file outside of the cold directory') });
    }
    return `${this.#root}/${inside.split(sep).join('/')}`;
  }

  /** Text without any path of ours or the cluster's. */
  scrub(text: string): string {
    let clean = text;
    const roots = [this.#root, this.#coldDirectory, withoutScheme(this.#root)];
    // Engines also report paths as URIs.
    for (const root of new Set([...roots, ...roots.map(encodeURI)])) {
      if (root.length > 1) clean = clean.replaceAll(pathsBelow(root), 'the file');
    }
    return clean.replaceAll(/\b(?:file|hdfs|s3a?|abfss?|gs|wasbs?):\/+[^\s'"`,;)\]]+/g, 'the file');
  }
}

/** Sail takes a path for a pattern where it holds certain signs, but not where they are encoded as in a URI. */
function sailUri(name: string): string {
  const isUri = /^[a-z][a-z0-9+.-]*:/i.test(name);
  const path = isUri ? name : `file://${encodeURI(name).replaceAll('#', '%23')}`;
  return path.replaceAll(/[*?[\]{}]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
}

function withoutScheme(root: string): string {
  return root.replace(/^[a-z][a-z0-9+.-]*:\/*/i, '/');
}

function pathsBelow(root: string): RegExp {
  const escaped = root.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
  return new RegExp(`(?:[a-z][a-z0-9+.-]*:/{0,3})?${escaped}[^\\s'"\`,;)\\]]*`, 'g');
}
