import { isAbsolute, relative, resolve, sep } from 'node:path';
import { AppError } from '../../core/app-error.ts';
import type { Flavour } from './spark-session.ts';

/** Our cold directory as the cluster sees it. */
export class PathMap {
  readonly #coldDirectory: string;
  readonly #root: string;

  /** `root`: a path or URI. Undefined: the cluster has the directory at the same path. */
  constructor(coldDirectory: string, root: string | undefined) {
    this.#coldDirectory = resolve(coldDirectory);
    this.#root = (root ?? this.#coldDirectory).replace(/\/+$/, '');
  }

  /** A path of ours as the cluster names it. */
  toCluster(path: string): string {
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
    // Engines also tell paths as URIs.
    for (const root of new Set([...roots, ...roots.map(encodeURI)])) {
      if (root.length > 1) clean = clean.replaceAll(pathsBelow(root), 'the file');
    }
    return clean.replaceAll(/\b(?:file|hdfs|s3a?|abfss?|gs|wasbs?):\/+[^\s'"`,;)\]]+/g, 'the file');
  }
}

/** Both engines take a path for a pattern where it holds certain signs, and each has its own way to say that it is none. */
export function withoutGlobs(path: string, flavour: Flavour): string {
  return flavour === 'spark' ? path.replaceAll(/[\\*?[\]{}]/g, '\\$&') : path.replaceAll(/[*?[\]{}]/g, '[$&]');
}

function withoutScheme(root: string): string {
  return root.replace(/^[a-z][a-z0-9+.-]*:\/*/i, '/');
}

function pathsBelow(root: string): RegExp {
  const escaped = root.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
  return new RegExp(`(?:[a-z][a-z0-9+.-]*:/{0,3})?${escaped}[^\\s'"\`,;)\\]]*`, 'g');
}
